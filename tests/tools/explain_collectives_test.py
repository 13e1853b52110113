"""hilo explain --collectives: what users of other partitioners have reported, each as a small program. The bytes, the
two shardings that met, the source line and what would save them."""

import json
import os
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))
COMMAND = os.environ.get("HILO_COMMAND", SOURCE / "build/hilo")


def explain(text):
    done = subprocess.run([COMMAND, "explain", "-", "--collectives", "--json"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def program(body, devices=8, computations=""):
    return f"HloModule m, num_partitions={devices}\n{computations}\nENTRY main {{\n{body}\n}}\n"


def line(number):
    return f'metadata={{source_file="model.py" source_line={number}}}'


SUM = "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }"


class ExplainCollectives(unittest.TestCase):
    def only(self, document):
        self.assertEqual(len(document["collectives"]), 1, document)
        return document["collectives"][0]

    def test_tiles_move_without_being_gathered(self):
        # openxla/xla 15207: "involuntary full rematerialization", without a source line.
        document = explain(program(f"""
            p = f32[64,64,64] parameter(0), sharding={{devices=[2,1,4]<=[4,2]T(1,0)}}
            ROOT r = f32[64,64,64] copy(p), sharding={{devices=[1,8,1]<=[8]}}, {line(12)}"""))
        kinds = {one["kind"] for one in document["collectives"]}
        self.assertNotIn("all-gather", kinds)
        tile = 64 * 64 * 64 * 4 / 8
        self.assertLessEqual(document["bytes"], 2 * tile)
        for one in document["collectives"]:
            self.assertEqual(one["source"], "model.py:12")
            self.assertEqual(one["reason"]["array"], "f32[64,64,64]")
            self.assertEqual(one["reason"]["wanted_by"], "r")
            self.assertNotEqual(one["reason"]["from"], one["reason"]["to"])
            self.assertIn("model.py:12", one["reason"]["cure"])

    def test_a_product_moves_its_result_where_that_is_less(self):
        # openxla/xla 4062: both operands are gathered where the small result could move.
        document = explain(program(f"""
            a = f32[64,8192] parameter(0), sharding={{devices=[4,1]<=[4]}}
            b = f32[8192,64] parameter(1), sharding={{replicated}}
            ROOT d = f32[64,64] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}},
              sharding={{devices=[1,4]<=[4]}}, {line(3)}""", 4))
        one = self.only(document)
        self.assertEqual(one["kind"], "all-to-all")
        self.assertEqual(one["bytes"], 64 * 64 * 4 / 4 * 3 / 4)
        self.assertEqual(one["reason"]["wanted_by"], "d")

    def test_sums_say_what_sends_half(self):
        document = explain(program(f"""
            a = f32[64,64] parameter(0), sharding={{devices=[1,8]<=[8]}}
            b = f32[64,64] parameter(1), sharding={{devices=[8,1]<=[8]}}
            ROOT d = f32[64,64] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}},
              sharding={{replicated}}, {line(4)}"""))
        one = self.only(document)
        self.assertEqual((one["kind"], one["source"]), ("all-reduce", "model.py:4"))
        self.assertIn("unreduced", one["reason"]["from"])
        self.assertIn("sends half", one["reason"]["cure"])

    def test_batches_of_transforms_stay_where_they_are(self):
        # jax 15680, 13081: a transform over a whole dimension gathers the batch.
        document = explain(program("""
            p = c64[16,32] parameter(0), sharding={devices=[8,1]<=[8]}
            ROOT f = c64[16,32] fft(p), fft_type=FFT, fft_length={32}, sharding={devices=[8,1]<=[8]}"""))
        self.assertEqual(document["bytes"], 0)

    def test_an_update_sends_no_more_than_itself(self):
        # jax 23052: x.at[0:3].set(...) gathers x.
        document = explain(program("""
            x = f32[4096,16] parameter(0), sharding={devices=[8,1]<=[8]}
            u = f32[3,16] parameter(1), sharding={replicated}
            i = s32[] constant(0)
            ROOT r = f32[4096,16] dynamic-update-slice(x, u, i, i), sharding={devices=[8,1]<=[8]}"""))
        self.assertLessEqual(document["bytes"], 2 * 3 * 16 * 4)

    def test_a_layer_is_taken_from_a_stack_without_the_stack(self):
        # openxla/xla 44796: the whole stack of layers is gathered.
        document = explain(program("""
            stack = f32[64,32,32] parameter(0), sharding={devices=[8,1,1]<=[8]}
            i = s32[] parameter(1)
            z = s32[] constant(0)
            ROOT r = f32[1,32,32] dynamic-slice(stack, i, z, z), dynamic_slice_sizes={1,32,32}, sharding={replicated}"""))
        self.assertLessEqual(document["bytes"], 2 * 32 * 32 * 4)

    def test_the_largest_of_each_tile_are_enough(self):
        # jax 19271: wrong values, and all of the operand sent.
        document = explain(program("""
            x = f32[4,8192] parameter(0), sharding={devices=[1,8]<=[8]}
            t = (f32[4,4], s32[4,4]) topk(x), k=4, largest=true
            ROOT r = f32[4,4] get-tuple-element(t), index=0, sharding={replicated}"""))
        self.assertLessEqual(document["bytes"], 8 * 4 * 4 * (4 + 4))

    def test_a_gathered_whole_is_said_with_its_bytes(self):
        document = explain(program(f"""
            x = f32[64,64] parameter(0), sharding={{devices=[8,1]<=[8]}}
            ROOT r = f32[64,64] copy(x), sharding={{replicated}}, {line(9)}"""))
        one = self.only(document)
        self.assertEqual((one["kind"], one["bytes"]), ("all-gather", 64 * 64 * 4 * 7 / 8))
        self.assertEqual(document["by_line"], {"model.py:9": one["bytes"]})
        text = subprocess.run([COMMAND, "explain", "-", "--collectives"], capture_output=True, text=True, input=program(f"""
            x = f32[64,64] parameter(0), sharding={{devices=[8,1]<=[8]}}
            ROOT r = f32[64,64] copy(x), sharding={{replicated}}, {line(9)}""")).stdout
        self.assertIn("(the whole array)", text)
        self.assertIn("model.py:9", text)

    def test_errors_name_the_line_of_the_program(self):
        # "PartitionId instruction is not supported for SPMD partitioning", without a place.
        done = subprocess.run([COMMAND, "explain", "-", "--collectives"], capture_output=True, text=True,
                              input=program("""p = u32[] partition-id()
            x = f32[8] parameter(0), sharding={devices=[8]<=[8]}
            c = f32[8] custom-call(x), custom_call_target="Sharding", sharding={replicated}
            ROOT t = (u32[], f32[8]) tuple(p, c)"""))
        self.assertEqual(done.returncode, 1)
        self.assertIn("<stdin>:4:", done.stderr.replace("-:4:", "<stdin>:4:"))
        self.assertIn("partition-id", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
