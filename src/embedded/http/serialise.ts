import type { KubeObject } from '../../kube/api.ts';

/** JSON of stored objects. They are frozen, so that what was written once need not be written again. */

const written = new WeakMap<KubeObject, string>();

/** The fields of an object without kind and apiVersion and without the braces. */
function fieldsOf(object: KubeObject): string {
  let text = written.get(object);
  if (text === undefined) {
    const { apiVersion: _, kind: __, metadata, ...rest } = object;
    text = JSON.stringify({ metadata, ...rest }).slice(1, -1);
    if (Object.isFrozen(object)) written.set(object, text);
  }
  return text;
}

/** One object. Custom kinds put apiVersion before kind, as the real server does. */
export function objectJson(object: KubeObject, custom: boolean): string {
  const kind = `"kind":${JSON.stringify(object.kind)}`;
  const apiVersion = `"apiVersion":${JSON.stringify(object.apiVersion)}`;
  const head = custom ? `${apiVersion},${kind}` : `${kind},${apiVersion}`;
  return `{${head},${fieldsOf(object)}}`;
}

/** A list and the line's end. Items of the built-in kinds come without kind and apiVersion. */
export function listJson(list: KubeObject, items: readonly KubeObject[], custom: boolean): string {
  const { kind, apiVersion, metadata } = list;
  const parts = ['{"kind":', JSON.stringify(kind), ',"apiVersion":', JSON.stringify(apiVersion)];
  parts.push(',"metadata":', JSON.stringify(metadata), ',"items":[');
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(',');
    if (custom) parts.push(objectJson(item, true));
    else parts.push('{', fieldsOf(item), '}');
  }
  parts.push(']}\n');
  // One join makes one flat text; a template around a joined list would be copied once more when it is sent.
  return parts.join('');
}
