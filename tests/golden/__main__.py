from tests.golden import RECORDED, path, recorded

for name in RECORDED:
    path(name).write_bytes(b"\n".join(recorded(name)) + b"\n")
    print(path(name))
