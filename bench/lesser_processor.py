#!/usr/bin/env python3
"""Runs a command as if the processor had no more than AVX2, or no more than AVX-512: what asks it
(the instruction CPUID) is told so, in all of the command's programs and libraries, Hilo and jaxlib
alike. Linux on x86-64 where the kernel can stop CPUID ("cpuid_fault" in /proc/cpuinfo).

  lesser_processor.py [--processor x86-64-v3|x86-64-v4] COMMAND [ARGUMENT...]

  lesser_processor.py .venv-peers/bin/python bench/performance.py FILE... --threads 1
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# CPUID raises SIGSEGV; the handler executes it and clears bits of what it answered. Their numbers:
# Intel, "Architecture Instruction Set Extensions", CPUID leaves 7 and 0xd.
LIBRARY = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
enum { set_cpuid = 0x1012 };  /* ARCH_SET_CPUID of arch_prctl */
#define BIT(n) (1u << (n))
static void answer(int signal_number, siginfo_t* info, void* context) {
  greg_t* at = ((ucontext_t*)context)->uc_mcontext.gregs;
  const unsigned char* code = (const unsigned char*)at[REG_RIP];
  if (code[0] != 0x0f || code[1] != 0xa2) { signal(signal_number, SIG_DFL); return; }
  unsigned leaf = at[REG_RAX], part = at[REG_RCX], a, b, c, d;
  syscall(SYS_arch_prctl, set_cpuid, 1);
  __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(leaf), "c"(part));
  syscall(SYS_arch_prctl, set_cpuid, 0);
  if (leaf == 7 && part == 0) {  /* AMX, AVX512_FP16, VP2INTERSECT; VNNI and its like */
    d &= ~(BIT(22) | BIT(23) | BIT(24) | BIT(25) | BIT(8));
    c &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));
    b &= ~BIT(21);
    if (!WIDE) {  /* all of AVX-512 */
      b &= ~(BIT(16) | BIT(17) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31));
      d &= ~(BIT(2) | BIT(3));
    }
  }
  if (leaf == 7 && part == 1) a &= ~(BIT(4) | BIT(5) | BIT(21)), d &= ~BIT(19);
  if (leaf == 0x1d || leaf == 0x1e || leaf == 0x24) a = b = c = d = 0;
  if (leaf == 0xd && part == 0) a &= ~(BIT(17) | BIT(18) | (WIDE ? 0 : BIT(5) | BIT(6) | BIT(7)));
  at[REG_RAX] = a, at[REG_RBX] = b, at[REG_RCX] = c, at[REG_RDX] = d;
  at[REG_RIP] += 2;
}
__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {0};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, 0);
  if (syscall(SYS_arch_prctl, set_cpuid, 0) != 0) perror("lesser_processor: CPUID cannot be stopped here"), _exit(1);
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processor", choices=["x86-64-v3", "x86-64-v4"], default="x86-64-v3",
                        help="with AVX2, which is the default, or with AVX-512 as the first processors had it")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND ...")
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("no command")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "cpuid.c"), Path(folder, "cpuid.so")
        source.write_text(LIBRARY)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", f"-DWIDE={int(arguments.processor == 'x86-64-v4')}",
                        source, "-o", library], check=True)
        sys.exit(subprocess.run(arguments.command, env=os.environ | {"LD_PRELOAD": str(library)}).returncode)


if __name__ == "__main__":
    main()
