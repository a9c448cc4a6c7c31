"""Protocol Buffers' own text format, for comparison: lines of JSON in, lines of JSON out.

The argument is {"<message>": {"<field>": "string" | "int64" | "uint32"}}, with fields in the order of their numbers.
"""

import json
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

FieldDescriptor = descriptor_pb2.FieldDescriptorProto
TYPES = {
    "string": FieldDescriptor.TYPE_STRING,
    "int64": FieldDescriptor.TYPE_INT64,
    "uint32": FieldDescriptor.TYPE_UINT32,
}


def make_classes(schemas):
    file = descriptor_pb2.FileDescriptorProto(
        name="agent.proto", package="busdriver.agent.v1", syntax="proto3"
    )
    for name, fields in schemas.items():
        message = file.message_type.add(name=name)
        for number, (field, type_name) in enumerate(fields.items(), 1):
            message.field.add(
                name=field, number=number, type=TYPES[type_name], label=FieldDescriptor.LABEL_OPTIONAL
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName("busdriver.agent.v1." + name))
        for name in schemas
    }


def answer(classes, request):
    message = classes[request["message"]]()
    if "text" not in request:
        for field, value in request["values"].items():
            setattr(message, field, value)
        return {"text": text_format.MessageToString(message, **request["options"])}
    try:
        text_format.Parse(request["text"], message)
    except (text_format.ParseError, UnicodeError, ValueError) as error:
        return {"refused": str(error)}
    return {"values": {each.name: getattr(message, each.name) for each in message.DESCRIPTOR.fields}}


def main():
    classes = make_classes(json.loads(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(answer(classes, json.loads(line))), flush=True)


main()
