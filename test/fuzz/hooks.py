"""What schemathesis cannot know of Busdriver: requests that hit real things, and a log of every call.

Set-up comes from the file that BUSDRIVER_FUZZ_SETUP names, one line of JSON for each call and each failure goes to the file that
BUSDRIVER_FUZZ_LOG names. `test/fuzz/run-fuzz.ts` writes the one and reads the other.
"""

import copy
import json
import os

import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation as Location

with open(os.environ["BUSDRIVER_FUZZ_SETUP"], encoding="utf-8") as setup_file:
    SETUP = json.load(setup_file)
HITS = SETUP["hits"]
LOG = open(os.environ["BUSDRIVER_FUZZ_LOG"], "a", encoding="utf-8", buffering=1)

# Headers that the API reads but that no route describes, each as likely as not.
CALLER_HEADERS = ["X-SPINNAKER-REQUEST-ID", "X-SPINNAKER-EXECUTION-ID", "X-SPINNAKER-APPLICATION"]

# What every object of JavaScript has: names that must mean nothing to an API.
PROTOTYPE_NAMES = [
    "__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "prototype", "toLocaleString",
    "toString", "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
]  # fmt: skip

# Seconds that a refusal may take, where that is looked at.
FREEZE_SECONDS = SETUP.get("freezeSeconds")

ODD_KEYS = ["", "__proto__", "constructor", "toString", "a.b/c", "\u0000", "null", "0", "é" * 40]
ODD_VALUES = [
    None, True, False, 0, -1, 1.5, 2**31, 2**53 + 1, 1e308, -0.0,
    "", " ", "0", "true", "NaN", "\u0000", "\ud7ff\ue000\U0010ffff", "x" * 300, "a b c", "../..", "%2F", "%zz",
    "${x}", "{{x}}", "__proto__", "-", "--dry-run", "kubernetes", [], {}, [None], [[]], {"": None}, {"__proto__": 1}, {"name": {}},
]  # fmt: skip


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Puts what exists in place of the document's examples, from which the phases `examples` and `coverage` start."""
    for path, methods in raw_schema["paths"].items():
        for method, operation in methods.items():
            hits = HITS.get(f"{method.upper()} {path}")
            if hits:
                set_examples(raw_schema, operation, hits[0])


def set_examples(raw_schema, operation, hit):
    parameters = [resolve(raw_schema, parameter) for parameter in operation.get("parameters", [])]
    for parameter in parameters:
        value = hit.get(parameter["in"], {}).get(parameter["name"])
        if value is not None:
            parameter["example"] = value
    # Those that many routes have stand in the document once: each route has a copy with its own example.
    if parameters:
        operation["parameters"] = parameters
    if "body" in hit:
        for media_type in operation["requestBody"]["content"].values():
            media_type["examples"] = {"hit": {"value": hit["body"]}}


def resolve(raw_schema, parameter):
    """A copy of a parameter, or of the one that it refers to within the document."""
    if "$ref" not in parameter:
        return dict(parameter)
    found = raw_schema
    for name in parameter["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return dict(found)


@schemathesis.hook
def filter_query(context, query):
    """Drops lists and objects: written into a URL they may become text that is right, such as `flag=` for a list of nothing."""
    return not any(value is None or isinstance(value, (list, dict)) for value in (query or {}).values())


@schemathesis.hook
def flatmap_case(context, case):
    """Aims most of the generated requests at real things, except where they are meant to be wrong."""
    if case.meta is None:
        return st.just(case)
    hits = HITS.get(case.operation.label) or [{}]
    return st.builds(aim, st.just(case), st.sampled_from(hits), st.randoms(use_true_random=False))


def aim(case, hit, random):
    meta = case.meta
    wrong = {place for place in Location if meta.is_negative_at(place)}
    if Location.PATH not in wrong and random.random() < 0.85:
        kept = {name: value for name, value in hit.get("path", {}).items() if random.random() < 0.9}
        case.path_parameters = {**case.path_parameters, **kept}
    if Location.HEADER not in wrong:
        case.headers.update({name: value for name, value in hit.get("header", {}).items() if random.random() < 0.7})
        case.headers.update({name: "fuzz\u00e9 \t%s" for name in CALLER_HEADERS if random.random() < 0.2})
    if Location.QUERY not in wrong and random.random() < 0.5:
        # Few ids would name few tasks: without one, each accepted request starts its own.
        case.query = {name: value for name, value in case.query.items() if name != "clientRequestId"}
    if Location.BODY not in wrong and "body" in hit:
        aim_body(case, hit, random)
    if random.random() < 0.15:
        name_prototypes(case, random)
    return case


def name_prototypes(case, random):
    """Puts names of `Object.prototype` where a caller may: into a header, a parameter of the query, and the path."""
    name = random.choice(PROTOTYPE_NAMES)
    place = random.randrange(3)
    if place == 0:
        case.headers.update({name: name})
    elif place == 1:
        case.query = {**(case.query or {}), name: name}
    elif case.path_parameters:
        parameter = random.choice(sorted(case.path_parameters))
        case.path_parameters = {**case.path_parameters, parameter: name}


def aim_body(case, hit, random):
    choice = random.random()
    if choice < 0.4 or hit.get("fixed"):
        case.body = copy.deepcopy(hit["body"])
    elif choice < 0.85:
        case.body = mutate(copy.deepcopy(hit["body"]), random)


def mutate(body, random):
    """Changes one to three places of a body that would be accepted."""
    holder = {"": body}
    for _ in range(random.choice([1, 1, 2, 3])):
        places = list_places(holder)
        mutate_place(*places[random.randrange(len(places))], random)
    return holder.get("", {})


def list_places(value):
    """Every place within a value, as the list or object that holds it and the key there."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    return [place for key, child in entries for place in [(value, key), *list_places(child)]] or [({"": value}, "")]


def mutate_place(holder, key, random):
    how = random.randrange(5)
    child = holder[key]
    if how == 0 and isinstance(holder, list):
        holder.append(copy.deepcopy(child))
    elif how == 0 and key != "":
        del holder[key]
    elif how == 1 and isinstance(child, dict):
        child[random.choice(ODD_KEYS)] = copy.deepcopy(random.choice(ODD_VALUES))
    elif how == 2 and isinstance(child, str):
        holder[key] = child + random.choice(["", " ", "-v000", ".x", "/y", ":z", "é", "\u0000", "x" * 260])
    elif how == 3 and isinstance(child, (int, float)):
        holder[key] = random.choice([-child, child + 1, str(child), float(child) * 2**40])
    else:
        holder[key] = copy.deepcopy(random.choice(ODD_VALUES))


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes a task that may be started again for each request that asks for one, since the first to come uses it up."""
    task_id = case.path_parameters.get("id")
    if isinstance(task_id, str) and task_id.startswith(SETUP["retryable"]):
        case.path_parameters["id"] = start_retryable_task() + task_id.removeprefix(SETUP["retryable"])


def start_retryable_task():
    url = f"{SETUP['url']}/kubernetes"
    posted = requests.post(f"{url}/ops", json=SETUP["slowOperations"], timeout=60)
    task_id = posted.json()["id"]
    requests.patch(f"{url}/task/{task_id}", json={"retry": True}, timeout=60)
    return task_id


@schemathesis.hook
def after_call(context, case, response):
    phase = case.meta.phase.name.value if case.meta else "unknown"
    log(call=case.operation.label, phase=phase, status=response.status_code)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Notes a failure, and keeps it."""
    log(
        failure=case.operation.label,
        check=type(failure).__name__,
        message=f"{failure.title}: {failure.message}",
        status=response.status_code,
        answer=response.content[:2000].decode(errors="replace"),
        curl=case.as_curl_command(),
    )
    return True


@schemathesis.check
def hides_planted_secret(context, response, case):
    """A live object shows its Secret, as Clouddriver does; nothing else may."""
    shown = any(planted.encode() in response.content for planted in SETUP["planted"])
    if shown and not case.path.startswith("/manifests/"):
        raise AssertionError("The answer holds a secret that was only ever within a Secret")


@schemathesis.check
def does_not_freeze(context, response, case):
    """What is refused is refused at once: only what is let through may wait, for a cluster, a host or a cache."""
    is_refused = response.status_code in (400, 401, 403, 404, 405, 413)
    if FREEZE_SECONDS and is_refused and response.elapsed > FREEZE_SECONDS and not waits(case):
        raise AssertionError(f"It took {response.elapsed:.1f} s to refuse the request")


def waits(case):
    names = {name.lower() for name in case.headers or {}}
    live = case.path.startswith(("/manifests/", "/instances/", "/artifacts/"))
    return live or "/jobs/" in case.path or "/pods/" in case.path or "cache-control" in names


def log(**entry):
    LOG.write(json.dumps(entry) + "\n")
