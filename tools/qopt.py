import sys
from ..dialect.context import parse_module
from ..passes.pass_manager import run_pipeline
def main():
    import argparse
    p=argparse.ArgumentParser(); p.add_argument("file",nargs="?",default="-"); p.add_argument("-p",default="")
    a=p.parse_args()
    m=parse_module(sys.stdin.read() if a.file=="-" else open(a.file).read())
    run_pipeline(m,a.p); print(m)
if __name__=="__main__": sys.exit(main())
