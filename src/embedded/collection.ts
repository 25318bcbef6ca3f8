import type { KubeObject } from '../kube/api.ts';

/** The objects of one kind, by namespace and name (namespace `''` for cluster-scoped kinds). */
export class Collection {
  readonly #namespaces = new Map<string, Bucket>();
  #sorted: readonly string[] | undefined;

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#namespaces.get(namespace)?.objects.get(name);
  }

  set(namespace: string, name: string, object: KubeObject): void {
    let bucket = this.#namespaces.get(namespace);
    if (bucket === undefined) {
      bucket = { objects: new Map(), sorted: undefined };
      this.#namespaces.set(namespace, bucket);
      this.#sorted = undefined;
    }
    if (!bucket.objects.has(name)) bucket.sorted = undefined;
    bucket.objects.set(name, object);
  }

  delete(namespace: string, name: string): void {
    const bucket = this.#namespaces.get(namespace);
    if (bucket?.objects.delete(name) !== true) return;
    bucket.sorted = undefined;
    if (bucket.objects.size > 0) return;
    this.#namespaces.delete(namespace);
    this.#sorted = undefined;
  }

  /** In the order of their keys: plain byte order of the names inside a namespace. */
  list(namespace?: string): KubeObject[] {
    if (namespace !== undefined) return listBucket(this.#namespaces.get(namespace));
    // The key is `namespace/name`, so that `a-b` sorts before `a`: '-' is less than '/'.
    this.#sorted ??= [...this.#namespaces.keys()].sort((a, b) => compareBytes(`${a}/`, `${b}/`));
    return this.#sorted.flatMap((name) => listBucket(this.#namespaces.get(name)));
  }
}

interface Bucket {
  readonly objects: Map<string, KubeObject>;
  sorted: readonly string[] | undefined;
}

function listBucket(bucket: Bucket | undefined): KubeObject[] {
  if (bucket === undefined) return [];
  bucket.sorted ??= [...bucket.objects.keys()].sort(compareBytes);
  const objects: KubeObject[] = [];
  for (const name of bucket.sorted) {
    const object = bucket.objects.get(name);
    if (object !== undefined) objects.push(object);
  }
  return objects;
}

/** Names are ASCII, where the order of code units is the order of bytes. */
function compareBytes(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
