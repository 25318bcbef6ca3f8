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

/** A list. Items of the built-in kinds come without kind and apiVersion. */
export function listJson(list: KubeObject, items: readonly KubeObject[], custom: boolean): string {
  const head = `"kind":${JSON.stringify(list.kind)},"apiVersion":${JSON.stringify(list.apiVersion)}`;
  const texts = items.map((item) => (custom ? objectJson(item, true) : `{${fieldsOf(item)}}`));
  return `{${head},"metadata":${JSON.stringify(list.metadata)},"items":[${texts.join(',')}]}`;
}
