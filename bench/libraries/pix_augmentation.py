"""dm-pix: 16 photographs of 128 x 128 flipped, cropped, coloured and blurred, then compared."""
import dm_pix as pix
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def augment(images, key):
    def one(image, key):
        keys = jax.random.split(key, 5)
        image = pix.random_flip_left_right(keys[0], image)
        image = pix.random_brightness(keys[1], image, 0.2)
        image = pix.random_contrast(keys[2], image, 0.8, 1.2)
        image = pix.random_saturation(keys[3], image, 0.8, 1.2)
        image = pix.random_crop(keys[4], image, (112, 112, 3))
        return jnp.clip(pix.gaussian_blur(image, sigma=1.0, kernel_size=5), 0, 1)

    key, drawn = jax.random.split(key)
    changed = jax.vmap(one)(images, jax.random.split(drawn, len(images)))
    return key, (changed, pix.psnr(changed, images[:, 8:-8, 8:-8]), pix.rgb_to_grayscale(changed))


def program():
    images = jnp.asarray(np.random.default_rng(0).uniform(size=(16, 128, 128, 3)), jnp.float32)
    return lambda key: augment(images, key), jax.random.key(0)
