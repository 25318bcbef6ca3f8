import { type Json, list, record, text } from '../json.ts';
import { duplicate, invalidValue, required, unsupported } from '../schema/field-error.ts';
import { nameProblems } from '../schema/names.ts';
import { parseQuantity } from '../schema/quantity.ts';
import type { FieldError } from '../status.ts';

/** The rules of a pod's spec, which Deployments, ReplicaSets and Pods share. */

const PORT_MAX = 65_535;
const VARIABLE = /^[ -<>-~]+$/;

/** What is wrong with the pod spec at `path`. */
export function podSpecErrors(path: string, spec: Json): readonly FieldError[] {
  const volumes = list(spec['volumes']).map(record);
  const containers = list(spec['containers']).map(record);
  const errors: FieldError[] = [...volumeErrors(`${path}.volumes`, volumes)];
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  const known = new Set(volumes.map((volume) => volume['name']));
  errors.push(...containerErrors(`${path}.containers`, containers, known));
  errors.push(...containerErrors(`${path}.initContainers`, list(spec['initContainers']).map(record), known));
  return errors;
}

function volumeErrors(path: string, volumes: readonly Json[]): readonly FieldError[] {
  const names = new Set<unknown>();
  return volumes.flatMap((volume, index) => {
    const name = text(volume['name']);
    const field = `${path}[${index}].name`;
    if (name === undefined) return [required(field)];
    if (names.has(name)) return [duplicate(field, name)];
    names.add(name);
    return labelErrors(field, name);
  });
}

function labelErrors(field: string, name: string): readonly FieldError[] {
  return nameProblems('label', name).map((problem) => invalidValue(field, name, problem));
}

function containerErrors(
  path: string,
  containers: readonly Json[],
  volumes: ReadonlySet<unknown>,
): readonly FieldError[] {
  const names = new Set<unknown>();
  return containers.flatMap((container, index) => {
    const place = `${path}[${index}]`;
    const name = text(container['name']);
    const errors: FieldError[] = [];
    if (name === undefined) errors.push(required(`${place}.name`));
    else if (names.has(name)) errors.push(duplicate(`${place}.name`, name));
    else errors.push(...labelErrors(`${place}.name`, name));
    names.add(name);
    if (text(container['image']) === undefined) errors.push(required(`${place}.image`));
    errors.push(
      ...portErrors(place, container),
      ...variableErrors(place, container),
      ...mountErrors(place, container, volumes),
      ...resourceErrors(place, container),
      ...probeErrors(place, container),
    );
    return errors;
  });
}

/** What is wrong with a port number. */
export function portNumberErrors(field: string, port: unknown): readonly FieldError[] {
  const fits = typeof port !== 'number' || (port >= 1 && port <= PORT_MAX);
  return fits ? [] : [invalidValue(field, port, `must be between 1 and ${PORT_MAX}, inclusive`)];
}

function portErrors(place: string, container: Json): readonly FieldError[] {
  return list(container['ports']).flatMap((port, index) => {
    const field = `${place}.ports[${index}].containerPort`;
    const number = record(port)['containerPort'] ?? 0;
    return number === 0 ? [required(field)] : portNumberErrors(field, number);
  });
}

function variableErrors(place: string, container: Json): readonly FieldError[] {
  return list(container['env']).flatMap((variable, index) => {
    const name = text(record(variable)['name']);
    const field = `${place}.env[${index}].name`;
    if (name === undefined) return [required(field)];
    if (VARIABLE.test(name)) return [];
    const detail =
      "a valid environment variable name must consist only of printable ASCII characters other than '='";
    return [invalidValue(field, name, detail)];
  });
}

function mountErrors(place: string, container: Json, volumes: ReadonlySet<unknown>): readonly FieldError[] {
  return list(container['volumeMounts']).flatMap((mount, index) => {
    const { name, mountPath } = record(mount);
    const field = `${place}.volumeMounts[${index}]`;
    const errors: FieldError[] = [];
    if (text(name) === undefined) errors.push(required(`${field}.name`));
    if (!volumes.has(name)) {
      const message = `Not found: ${JSON.stringify(name ?? '')}`;
      errors.push({ field: `${field}.name`, reason: 'FieldValueNotFound', message });
    }
    if (text(mountPath) === undefined) errors.push(required(`${field}.mountPath`));
    return errors;
  });
}

function resourceErrors(place: string, container: Json): readonly FieldError[] {
  const resources = record(container['resources']);
  const limits = record(resources['limits']);
  return Object.entries(record(resources['requests'])).flatMap(([name, request]) => {
    const limit = limits[name];
    if (limit === undefined) return [];
    const asked = parseQuantity(String(request))?.nano ?? 0n;
    const allowed = parseQuantity(String(limit))?.nano ?? 0n;
    if (asked <= allowed) return [];
    const detail = `must be less than or equal to ${name} limit of ${limit}`;
    return [invalidValue(`${place}.resources.requests`, request, detail)];
  });
}

function probeErrors(place: string, container: Json): readonly FieldError[] {
  return ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) => {
    if (container[name] === undefined) return [];
    const { httpGet, tcpSocket, exec, grpc } = record(container[name]);
    if (httpGet === undefined && tcpSocket === undefined && exec === undefined && grpc === undefined) {
      return [required(`${place}.${name}`, 'must specify a handler type')];
    }
    const handler = httpGet === undefined ? 'tcpSocket' : 'httpGet';
    return portNumberErrors(`${place}.${name}.${handler}.port`, record(httpGet ?? tcpSocket)['port']);
  });
}

/** The pods of a workload are restarted always. */
export function restartErrors(path: string, spec: Json): readonly FieldError[] {
  const policy = spec['restartPolicy'];
  return policy === undefined || policy === 'Always'
    ? []
    : [unsupported(`${path}.restartPolicy`, policy, ['Always'])];
}
