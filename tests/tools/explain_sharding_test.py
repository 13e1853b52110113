"""`hilo explain --sharding`: the axes of every array, and the annotation that they came from."""
import json
import os
import subprocess
import unittest

HILO = os.environ.get("HILO_COMMAND", "build/release/hilo")
MODULE = r"""HloModule m, num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
ENTRY e {
  a = f32[16,32] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {}]>"}, metadata={op_name="activations"}
  w = f32[32,64] parameter(1), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}, {\"y\"}]>"}, metadata={op_name="weights"}
  p = f32[16,64] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={source_file="model.py" source_line=7}
  c = f32[16,64] custom-call(p), custom_call_target="Sharding", frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}, {\"x\"}]>]>"}, metadata={source_file="model.py" source_line=8}
  ROOT r = f32[16,64] negate(c), metadata={source_file="model.py" source_line=9}
}
"""


def hilo(*arguments, text=MODULE):
    return subprocess.run([HILO, *arguments], input=text, capture_output=True, text=True, timeout=60)


class ExplainSharding(unittest.TestCase):
    def test_says_axes_and_who_said_so(self):
        done = hilo("explain", "-", "--sharding")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Mesh 'x'=2, 'y'=2", done.stdout)
        self.assertIn("%a f32[16,32] [{'x'}, {}]\n      dimension 0 by its own annotation\n", done.stdout)
        self.assertIn("%r f32[16,64] [{}, {'x'}]  model.py:9\n"
                      "      dimension 1 by %c at model.py:8\n", done.stdout)

    def test_json_has_the_same(self):
        document = json.loads(hilo("explain", "-", "--sharding", "--json").stdout)
        self.assertEqual(document["schema"], "hilo.shardings.1")
        self.assertEqual(document["mesh"], {"x": 2, "y": 2})
        values = {value["name"]: value for value in document["values"]}
        self.assertEqual(values["r"]["sharding"], "[{}, {'x'}]")
        self.assertEqual([origin["name"] for origin in values["r"]["dimensions"][1]["said_by"]], ["c"])
        self.assertEqual(values["w"]["dimensions"][1]["said_by"][0]["op_name"], "weights")

    def test_one_device_has_nothing_to_shard(self):
        done = hilo("explain", "-", "--sharding", text="HloModule m\nENTRY e { ROOT a = f32[4] parameter(0) }\n")
        self.assertEqual(done.stdout, "one device: nothing is sharded\n")

    def test_what_does_not_fit_stands_at_its_line(self):
        done = hilo("explain", "-", "--sharding", text=MODULE.replace(r'[{\"x\"}, {}]', r'[{\"z\"}, {}]'))
        self.assertEqual(done.returncode, 1)
        self.assertIn(r""":3:3: error: the mesh has no axis 'z': #sdy.sharding<@mesh, [{"z"}, {}]>""", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
