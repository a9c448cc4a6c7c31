"""The AWS command line as far as our pages use it, on the models of botocore.

    aws.py SERVICE OPERATION [OPTIONS]     checks a command as the command line of AWS does, and sends it if it only reads
    aws.py --describe SERVICE/OPERATION …  tells what options there are, as JSON

Where AWS_ENDPOINT_URL is not set, nothing is sent. What is not sent answers `answer`.
"""

import json
import os
import re
import sys

import botocore.session
import jmespath
from botocore import xform_name
from botocore.validate import ParamValidator

GLOBAL_OPTIONS = {"query", "output", "region", "endpoint-url", "profile"}
READING = re.compile(r"^(get|list|describe|start-query|query|tail)")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

# Commands that the command line has beside the operations of services: "AWS CLI Command Reference", version 2.
CUSTOM = {
    "logs/tail": {
        "group": "string!",
        "since": "string",
        "follow": "boolean",
        "format": "detailed|short|json",
        "filter-pattern": "string",
        "log-stream-names": "list<string>",
        "log-stream-name-prefix": "string",
    },
    "eks/get-token": {"cluster-name": "string", "role-arn": "string", "cluster-id": "string"},
    "eks/update-kubeconfig": {
        "name": "string!",
        "kubeconfig": "string",
        "role-arn": "string",
        "alias": "string",
        "user-alias": "string",
        "dry-run": "boolean",
    },
}
# Options that it adds to operations.
ADDED = {
    "ec2/authorize-security-group-ingress": {
        "protocol": "string",
        "port": "string",
        "cidr": "string",
        "source-group": "string",
        "group-owner": "string",
    }
}

session = botocore.session.get_session()


def find_operation(service, command):
    try:
        model = session.get_service_model(service)
    except Exception:
        sys.exit(f"there is no service {service}")
    for name in model.operation_names:
        if xform_name(name, "-") == command:
            return model.operation_model(name)
    sys.exit(f"{service} has no operation {command}")


def describe_type(shape):
    kind = shape.type_name
    if kind == "list":
        return f"list<{describe_type(shape.member)}>"
    if kind == "structure":
        return "{" + " ".join(shape.members) + "}"
    if kind == "string" and 0 < len(shape.enum) <= 20:
        return "|".join(shape.enum)
    return kind


def list_names(shape, seen=()):
    if shape is None or shape.name in seen:
        return set()
    if shape.type_name == "list":
        return list_names(shape.member, (*seen, shape.name))
    if shape.type_name == "map":
        return list_names(shape.value, (*seen, shape.name)) | set(shape.key.enum)
    if shape.type_name != "structure":
        return set()
    names = set(shape.members)
    for member in shape.members.values():
        names |= list_names(member, (*seen, shape.name))
    return names


def describe(names):
    table = {}
    for name in sorted(names):
        if name in CUSTOM:
            table[name] = {"options": CUSTOM[name], "answers": ""}
            continue
        service, command = name.split("/")
        operation = find_operation(service, command)
        inputs = operation.input_shape
        options = {
            xform_name(member, "-"): describe_type(shape) + ("!" if member in inputs.required_members else "")
            for member, shape in (inputs.members.items() if inputs else [])
        }
        answers = " ".join(sorted(list_names(operation.output_shape)))
        table[name] = {"options": {**options, **ADDED.get(name, {})}, "answers": answers}
    print(json.dumps(table))


def parse_arguments(arguments):
    """Options with their values, and what stands before them."""
    options, positional, current = {}, [], None
    for argument in arguments:
        if argument.startswith("--"):
            current = argument[2:]
            if current in options:
                sys.exit(f"--{current} is there twice")
            options[current] = []
        elif current is None:
            positional.append(argument)
        else:
            options[current].append(argument)
    return options, positional


def convert(shape, values, name):
    kind = shape.type_name
    if kind == "boolean" and not values:
        return True
    if not values:
        sys.exit(f"--{name}: expected a value")
    if values[0].startswith(("[", "{")) and kind in ("list", "structure", "map"):
        return json.loads(" ".join(values))
    if kind == "list":
        return [convert(shape.member, [value], name) for value in values]
    if len(values) > 1:
        sys.exit(f"--{name}: expected one value, got {values}")
    value = values[0]
    if kind == "structure":
        return convert_shorthand(shape, value, name)
    if value.startswith("file://"):
        with open(value[len("file://") :], encoding="utf8") as file:
            return file.read()
    if kind in ("integer", "long"):
        return int(value)
    if kind in ("double", "float"):
        return float(value)
    if kind == "boolean":
        return {"true": True, "false": False}[value.lower()]
    if kind == "string" and shape.enum and value not in shape.enum:
        sys.exit(f"--{name}: expected one of {shape.enum}, not {value}")
    return value


def convert_shorthand(shape, value, name):
    parsed = {}
    for part in value.split(","):
        key, separator, text = part.partition("=")
        if not separator or key not in shape.members:
            sys.exit(f"--{name}: expected {list(shape.members)}, not {part}")
        parsed[key] = convert(shape.members[key], [text], name)
    return parsed


def to_parameters(operation, options, name):
    members = {xform_name(member, "-"): member for member in operation.input_shape.members}
    parameters = {}
    for option, values in options.items():
        if option in GLOBAL_OPTIONS or option in ADDED.get(name, {}):
            continue
        if option not in members:
            sys.exit(f"{name} has no option --{option}")
        member = members[option]
        parameters[member] = convert(operation.input_shape.members[member], values, option)
    report = ParamValidator().validate(parameters, operation.input_shape)
    if report.has_errors():
        sys.exit(f"{name}: {report.generate_report()}")
    return parameters


def to_tail_parameters(options, positional):
    unknown = set(options) - set(CUSTOM["logs/tail"]) - GLOBAL_OPTIONS
    if unknown or len(positional) != 1:
        sys.exit(f"logs tail: expected a group and known options, got {positional} and {unknown}")
    [since] = options.get("since", ["10m"])
    if not re.fullmatch(r"\d+[smhdw]", since):
        sys.exit(f"--since: expected a number and a unit, not {since}")
    pattern = options.get("filter-pattern", [""])[0]
    return {"logGroupName": positional[0], **({"filterPattern": pattern} if pattern else {})}


def run(service, command, arguments):
    name = f"{service}/{command}"
    options, positional = parse_arguments(arguments)
    if name == "logs/tail":
        operation, parameters = find_operation("logs", "filter-log-events"), to_tail_parameters(options, positional)
    elif positional:
        sys.exit(f"{name}: expected options, not {positional}")
    else:
        operation = find_operation(service, command)
        parameters = to_parameters(operation, options, name)
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint or "endpoint-url" in options or not READING.match(command):
        print("answer")
        return
    client = session.create_client(
        service,
        region_name=os.environ["AWS_REGION"],
        endpoint_url=endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    answer = getattr(client, xform_name(operation.name))(**parameters)
    answer.pop("ResponseMetadata", None)
    query = options.get("query")
    print(json.dumps(jmespath.search(query[0], answer) if query else answer, default=str).strip('"'))


def is_name(service, command, *arguments):
    """Whether two words only name a command, which needs options."""
    if arguments:
        return False
    if f"{service}/{command}" in CUSTOM:
        return True
    inputs = find_operation(service, command).input_shape
    return inputs is not None and len(inputs.required_members) > 0


if __name__ == "__main__":
    if sys.argv[1] == "--describe":
        describe(sys.argv[2:])
    elif sys.argv[1] == "--version":
        print("aws-cli/2")
    elif is_name(*sys.argv[1:]):
        print("answer")
    else:
        run(sys.argv[1], sys.argv[2], sys.argv[3:])
