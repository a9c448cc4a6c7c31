"""An agent of nobody's: it speaks the published schema with Google's own gRPC for Python.

Arguments: folder of the .proto, its name, address, file with a token of the cluster. It opens a session, takes the first task that is
open, fails it, and tells on standard output, as JSON, what it saw.
"""

import json
import sys
import time

import grpc
from google.protobuf import descriptor_pb2

SERVICE = "busdriver.agent.v1."


def load(folder, name):
    """The modules that protoc makes of the file, without writing any."""
    sys.path.insert(0, folder)
    return grpc.protos_and_services(name)


def reflect(channel, schema, version):
    """What the server tells of itself: names of services, and the description of our file."""
    ask = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=lambda data: data,
        response_deserializer=lambda data: data,
    )
    # Written by hand: field 7 lists services, field 4 asks for the file with a symbol. Answers: 6.1.1 the names, 4.1 the file.
    symbol = (SERVICE + "Sessions").encode()
    listed, described = ask(iter([b"\x3a\x00", bytes([0x22, len(symbol)]) + symbol]))
    names = [field_text(each, 1) for each in fields(one(fields(listed), 6), 1)]
    (text,) = [each for each in fields(one(fields(described), 4), 1)]
    told, own = descriptor_pb2.FileDescriptorProto.FromString(text), descriptor_pb2.FileDescriptorProto()
    schema.DESCRIPTOR.CopyToProto(own)
    return {"services": names, "isDescribed": show(told) == show(own)}


def show(file):
    """Lines of a file, without what Python's own copy has not: the name of the file, and names in JSON."""
    file.ClearField("name")
    return [each for each in str(file).splitlines() if "json_name" not in each]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data, wanted=None):
    """Members of a message that have a length: all by number, or those of one number."""
    found, at = [], 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            _, at = varint(data, at)
            continue
        size, at = varint(data, at)
        found.append((tag >> 3, data[at : at + size]))
        at += size
    return found if wanted is None else [value for number, value in found if number == wanted]


def one(found, wanted):
    (value,) = [value for number, value in found if number == wanted]
    return value


def field_text(data, number):
    return one(fields(data), number).decode()


def main():
    folder, name, address, token_file = sys.argv[1:]
    messages, services = load(folder, name)
    with open(token_file) as file:
        proof = (("authorization", "Bearer " + file.read().strip()),)
    with grpc.insecure_channel(address) as channel:
        sessions = services.SessionsStub(channel)
        hello = messages.Hello(
            agent_id="python", version="1", protocol=1, journal_format=1, accounts=[messages.AccountHello(name="edge")]
        )
        welcome = sessions.Open(hello, metadata=proof, timeout=20)
        auth = (("authorization", "Bearer " + welcome.token),)
        reference = messages.SessionRef(session=welcome.session)
        work = []
        while not work:
            work = sessions.ListWork(reference, metadata=auth, timeout=20).work
            time.sleep(0.05)
        tasks = services.TasksStub(channel)
        taken = tasks.Take(
            messages.TakeTask(task=work[0].id, owner="python", attempts=1), metadata=auth, timeout=20
        )
        commit = messages.TaskCommit(task=taken.id, lease=taken.lease, next="FAILED")
        after = tasks.Commit(commit, metadata=auth, timeout=20)
        try:
            tasks.Take(messages.TakeTask(task="none", owner="python"), metadata=auth, timeout=20)
            refused = "nothing"
        except grpc.RpcError as error:
            refused = error.code().name
        health = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=20)
        sessions.Close(reference, metadata=auth, timeout=20)
        result = {
            "kind": messages.Work.Kind.Name(work[0].kind),
            "task": taken.id,
            "operations": len(json.loads(taken.operations)),
            "sequences": [taken.lease.sequence, after.sequence],
            "refused": refused,
            "isServing": health == b"\x08\x01",
            **{version: reflect(channel, messages, version) for version in ("v1", "v1alpha")},
        }
    print(json.dumps(result))


main()
