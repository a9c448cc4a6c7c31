import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** A defect of ministack that stands in the way, and what mends it. */
export interface Patch {
  /** What goes wrong without it. */
  readonly reason: string;
  /** File below ministack's package. */
  readonly file: string;
  /** Text that must stand in the file exactly once. */
  readonly find: string;
  /** What stands there afterwards; it is how an earlier patch is recognised. */
  readonly replacement: string;
}

const provisioners = 'services/cloudformation/provisioners.py';
const stacks = 'services/cloudformation/stacks.py';

/** What templates may have and the emulator has nothing for. CloudFormation goes through with it, and nothing works differently. */
export const recordedTypes: readonly string[] = [
  'AWS::ApiGateway::BasePathMappingV2',
  'AWS::ApiGateway::DomainNameAccessAssociation',
  'AWS::ApiGateway::DomainNameV2',
  'AWS::ApiGatewayV2::RouteResponse',
  'AWS::Events::Archive',
];

const metadata =
  '    "AWS::CDK::Metadata": {"create": lambda lid, props, sn: (f"CDKMetadata-{lid}", {}), "delete": lambda pid, props: None},\n';
const outputs =
  '                outputs_defs, conditions, surviving, param_values,\n                mappings, stack_name, stack_id)\n';
const authorizer =
  '    "AWS::ApiGatewayV2::Authorizer": {"create": _apigw_v2_authorizer_create, "update": _apigw_v2_authorizer_update, "delete": _apigw_v2_authorizer_delete},\n';
const apiEndpoint = `"apiEndpoint": f"{_apigw_v2._api_endpoint_scheme(protocol)}://{api_id}.execute-api.{_MINISTACK_HOST}:{os.environ.get('GATEWAY_PORT', '4566')}",`;
const anotherApi = `        created = _apigw_rest_api_create(logical_id or physical_id, new_props, stack_name)
        _delete_predecessor(_apigw_rest_api_delete, physical_id, old_props)
        return created
`;
const lambdaUri = `        if "/invocations" in inner:
            inner = inner.split("/invocations", 1)[0]
        return inner
`;
const isChanged = `    elif changes:
        _cs_status, _cs_exec, _cs_reason = "CREATE_COMPLETE", "AVAILABLE", ""
`;
const unpacking = `        with open(os.path.join(self._tmpdir, "code.zip"), "wb") as f:
            f.write(self.code_zip)
        with zipfile.ZipFile(os.path.join(self._tmpdir, "code.zip")) as zf:
            zf.extractall(code_dir)

        # Extract Lambda Layers and build`;
const dependencies = 'def _with_dependencies(logical_ids, res_defs, remaining):\n';

/** All that is mended. */
export const patches: readonly Patch[] = [
  {
    reason:
      'the code of a function is unpacked again for each of its processes, a fifth of what the emulator does',
    file: 'core/lambda_runtime.py',
    find: unpacking,
    replacement: `        import hashlib, io
        unpacked = os.path.join(tempfile.gettempdir(), "code-" + hashlib.sha256(self.code_zip).hexdigest())
        if not os.path.isdir(unpacked):
            part = tempfile.mkdtemp()
            with zipfile.ZipFile(io.BytesIO(self.code_zip)) as zf:
                zf.extractall(part)
            try:
                os.rename(part, unpacked)
            except OSError:
                shutil.rmtree(part)
        shutil.copytree(unpacked, code_dir, copy_function=os.link, dirs_exist_ok=True)

        # Extract Lambda Layers and build`,
  },
  {
    reason: 'a change of outputs alone is taken for none',
    file: 'services/cloudformation/changesets.py',
    find: isChanged,
    replacement: isChanged.replace(
      'changes:',
      'changes or stack.get("_template", {}).get("Outputs") != template.get("Outputs"):',
    ),
  },
  {
    reason: 'what a WebSocket API answers itself cannot be deployed',
    file: provisioners,
    find: authorizer,
    replacement: `${authorizer}    "AWS::ApiGatewayV2::IntegrationResponse": {
        "create": lambda lid, props, sn: (f"{sn}-{lid}", dict(status=_apigw_v2._create_integration_response(
            props["ApiId"], props["IntegrationId"], _pascal_to_camel(props))[0])),
        "delete": lambda pid, props: None,
    },
`,
  },
  {
    reason:
      'addresses of HTTP and WebSocket APIs are names that lead nowhere, and expect TLS, which it does not speak',
    file: provisioners,
    find: apiEndpoint,
    replacement: `"apiEndpoint": f"{'ws' if protocol == 'WEBSOCKET' else 'http'}://127.0.0.1:{os.environ.get('GATEWAY_PORT', '4566')}/_aws/execute-api/{api_id}",`,
  },
  {
    reason: 'functions whose answers are streamed cannot be called; with it they answer in one piece',
    file: 'services/apigateway_v1.py',
    find: lambdaUri,
    replacement: `        inner = inner.split("/response-streaming-invocations", 1)[0]\n${lambdaUri}`,
  },
  {
    reason: 'stacks with an archive of events or with a private domain cannot be deployed',
    file: provisioners,
    find: metadata,
    replacement: `${metadata}    **{recorded: {
        "create": lambda lid, props, sn: (f"{sn}-{lid}", {name: f"arn:aws:recorded:::{sn}-{lid}" for name in ("Arn", "DomainNameArn")}),
        "delete": lambda pid, props: None,
    } for recorded in ${JSON.stringify(recordedTypes)}},
`,
  },
  {
    reason: 'an update may take away an export that another stack imports, which CloudFormation refuses',
    file: stacks,
    find: outputs,
    replacement: `${outputs}            _refuse_locked_exports(previous_stack, new_exports, stack_name)\n`,
  },
  {
    reason: 'that cannot be looked at',
    file: stacks,
    find: dependencies,
    replacement: `def _refuse_locked_exports(previous_stack, new_exports, stack_name):
    from ministack.services.cloudformation import _stacks
    from .handlers import _imported_export_names
    for out in (previous_stack or {}).get("Outputs", []):
        name = out.get("ExportName")
        if not name or new_exports.get(name, {}).get("Value") == out.get("OutputValue"):
            continue
        for other_name, other in list(_stacks.items()):
            if other_name == stack_name or other.get("StackStatus", "").startswith("DELETE"):
                continue
            if name in _imported_export_names(other, other_name):
                verb = "update" if name in new_exports else "delete"
                raise ValueError(f"Cannot {verb} export {name} as it is in use by {other_name}")


${dependencies}`,
  },
  {
    reason:
      'an API whose paths or functions change becomes another one, with another id and no answers of its own',
    file: provisioners,
    find: anotherApi,
    replacement: `        made = _apigw_rest_api_create(logical_id or physical_id, new_props, stack_name)[0]
        for store in (_apigw_v1._resources, _apigw_v1._authorizers_v1):
            store[physical_id] = store.pop(made)
        was = _apigw_v1._rest_apis[physical_id]
        _apigw_v1._rest_apis[physical_id] = {
            **_apigw_v1._rest_apis[made], "id": physical_id, "createdDate": was["createdDate"]}
        _apigw_v1._delete_rest_api(made)
        return physical_id, _apigw_rest_api_attrs(physical_id)
`,
  },
  {
    reason:
      'what a nested stack leaves unchanged in an update loses its attributes, such as the ARN of a function',
    file: provisioners,
    find: 'old_tagged, new_tagged, child_name, child_logical_id,',
    replacement: 'old_tagged, new_tagged, child_name, child_logical_id, prev.get("Attributes"),',
  },
  {
    reason: 'what a nested stack changes in an update keeps only those attributes that the change answers',
    file: provisioners,
    find: '"LogicalResourceId": child_logical_id,\n            "Properties": resolved_props,\n            "Attributes": attrs,',
    replacement:
      '"LogicalResourceId": child_logical_id,\n            "Properties": resolved_props,\n' +
      '            "Attributes": {**((prev or {}).get("Attributes") or {}), **(attrs or {})},',
  },
];

/**
 * Mends the installed ministack where it has not been mended yet.
 *
 * @param folder that of its Python package
 * @throws Error when a file is not as expected: the pinned version has changed, and the patches must be looked at again
 */
export async function patchMinistack(folder: string): Promise<void> {
  for (const patch of patches) await applyPatch(path.join(folder, patch.file), patch);
}

async function applyPatch(file: string, { find, replacement, reason }: Patch): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (text.includes(replacement)) return;
  const count = text.split(find).length - 1;
  if (count !== 1) {
    const problem = `is there ${count} times instead of once. Without the patch, ${reason}`;
    throw new Error(
      `${file} is not that of the ministack that test/deploy/ministack-patches.ts is for: ${JSON.stringify(find)} ${problem}.`,
    );
  }
  const part = `${file}.${randomUUID()}`;
  await writeFile(
    part,
    text.replace(find, () => replacement),
  );
  await rename(part, file);
}
