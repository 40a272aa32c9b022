"""Does a result keep the promise of its operation's schema? Nothing missing, nothing of another type, nothing extra."""

KINDS = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
    "null": type(None)}


class Promises:
    """The schemas of a program's operations, asked for when first needed."""

    def __init__(self, mailroom):
        self.mailroom = mailroom
        self.names = {op["command"]: op["name"] for op in mailroom.json("operations")["operations"] if op["command"]}
        self.schemas = {}

    def check(self, words, result):
        """`words` begin with a command; `result` is what it said."""
        command = next(c for c in (" ".join(words[:n]) for n in range(len(words), 0, -1)) if c in self.names)
        if command not in self.schemas:
            self.schemas[command] = self.mailroom.json("schema", self.names[command])["outputSchema"]
        broken = list(problems("$", self.schemas[command], result))
        assert not broken, f"{command}: {broken}"


def is_kind(value, name):
    return isinstance(value, KINDS[name]) and (name == "boolean") == isinstance(value, bool)


def problems(path, schema, value):
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        yield f"{path}: {value!r} is not {kinds}"
    elif isinstance(value, dict) and "properties" in schema:
        yield from (f"{path}.{key}: missing" for key in schema.get("required", []) if key not in value)
        for key, member in value.items():
            if key in schema["properties"]:
                yield from problems(f"{path}.{key}", schema["properties"][key], member)
            else:
                yield f"{path}.{key}: not promised"
    elif isinstance(value, list) and "items" in schema:
        for n, item in enumerate(value):
            yield from problems(f"{path}[{n}]", schema["items"], item)
