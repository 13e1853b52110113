"""Vectors that are joined to one have a loop each, also where there are many."""
import re
import unittest

from dumped import dumped

COUNT = 7


def joined(size):
    """The code of an entry computation that stacks vectors of so many elements."""
    parts = "".join(f"  v{i} = f32[{size}] multiply(q, s{i})\n  r{i} = f32[1,{size}] reshape(v{i})\n"
                    for i in range(COUNT))
    sums = "".join(f"  s{i} = f32[{size}] {'subtract' if i % 2 else 'add'}({f's{i - 1}' if i else 'q'}, q)\n"
                   for i in range(COUNT))
    names = ", ".join(f"r{i}" for i in range(COUNT))
    text = f"HloModule m\n\nENTRY e {{\n  x = f32[{size}] parameter(0)\n  y = f32[{size}] parameter(1)\n" \
        f"  p = pred[{size}] parameter(2)\n  d = f32[{size}] subtract(x, y)\n" \
        f"  c = f32[{size}] select(p, x, d)\n  q = f32[{size}] divide(c, y)\n" \
        f"{sums}{parts}  ROOT j = f32[{COUNT},{size}] concatenate({names}), dimensions={{0}}\n}}\n"
    return dumped(text, "after.ll", "compile", "--name=m", "--target-cpu=x86-64-v3")[0]


class JoinedVectors(unittest.TestCase):
    def test_each_is_computed_in_vectors(self):
        code = joined(64)
        self.assertRegex(code, r"\bfdiv [a-z ]*<8 x float>")
        self.assertIsNone(re.search(r"\bfdiv [a-z ]*float\b", code))



if __name__ == "__main__":
    unittest.main()
