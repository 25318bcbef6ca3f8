import { describe, expect, it } from 'vitest';
import { installCrds } from '../../src/embedded/boot.ts';
import type { Resource } from '../../src/kube/api.ts';
import { type Api, CRDS, DEFINITIONS, openApi, refusal, WIDGET_CRD, WIDGETS, widget } from './_api.ts';

const APP_DEFINITIONS: Resource = {
  group: 'theia.cloud',
  version: 'v1beta11',
  kind: 'AppDefinition',
  plural: 'appdefinitions',
  namespaced: true,
};
const ROUTES: Resource = {
  ...APP_DEFINITIONS,
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'HTTPRoute',
  plural: 'httproutes',
};

const SPEC = {
  name: 'java-17',
  image: 'registry.example.org/ide/java-17:1.0.0',
  uid: 101,
  port: 3000,
  ingressname: 'route',
  minInstances: 3,
  maxInstances: 20,
  requestsCpu: '500m',
  requestsMemory: '500M',
  limitsCpu: '2',
  limitsMemory: '3000M',
};

function appDefinition(spec: Readonly<Record<string, unknown>>, version = 'v1beta11') {
  return { apiVersion: `theia.cloud/${version}`, kind: 'AppDefinition', metadata: { name: 'java' }, spec };
}

function theia(): Api {
  const api = openApi();
  installCrds(api.store, CRDS);
  return api;
}

describe('an AppDefinition', () => {
  it('is stored as it is written', () => {
    const { code, body, warnings } = theia().create(APP_DEFINITIONS, appDefinition(SPEC));
    expect([code, warnings]).toEqual([201, []]);
    expect(body['spec']).toEqual(SPEC);
  });

  it('must not have more instances at least than at most', () => {
    const answer = theia().create(APP_DEFINITIONS, appDefinition({ ...SPEC, minInstances: 30 }));
    expect(refusal(answer)).toEqual({
      code: 422,
      reason: 'Invalid',
      message:
        'AppDefinition.theia.cloud "java" is invalid: spec: Invalid value: "object": failed rule: self.minInstances <= self.maxInstances',
      details: {
        name: 'java',
        group: 'theia.cloud',
        kind: 'AppDefinition',
        causes: [
          {
            reason: 'FieldValueInvalid',
            message: 'Invalid value: "object": failed rule: self.minInstances <= self.maxInstances',
            field: 'spec',
          },
        ],
      },
    });
  });

  it('names what is missing and says that its rules were not checked', () => {
    const { uid: _, ...rest } = SPEC;
    const { details, message } = refusal(
      theia().create(APP_DEFINITIONS, appDefinition({ ...rest, port: '80' })),
    );
    expect(message).toBe(
      'AppDefinition.theia.cloud "java" is invalid: [spec.uid: Required value, spec.port: Invalid value: "string": spec.port in body must be of type integer: "string", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
    );
    expect((details as { causes: { field: string }[] }).causes.map(({ field }) => field)).toEqual([
      'spec.uid',
      'spec.port',
      '<nil>',
    ]);
  });

  it('loses what an older version does not know when it is read there, and keeps it in its own', () => {
    const api = theia();
    const sidecars = [{ name: 'lsp', image: 'lsp:1', port: 4000, mountWorkspace: true }];
    api.create(APP_DEFINITIONS, appDefinition({ ...SPEC, sidecars }));
    const older = api.get({ ...APP_DEFINITIONS, version: 'v1beta10' }, 'java').body;
    expect(older.apiVersion).toBe('theia.cloud/v1beta10');
    expect(() => Object.assign(older['spec'] as object, { name: 'x' })).toThrow(TypeError);
    expect(older['spec']).toMatchObject({ name: 'java-17' });
    expect(api.get(APP_DEFINITIONS, 'java').body).toMatchObject({
      apiVersion: 'theia.cloud/v1beta11',
      spec: { sidecars },
    });
  });

  it('can be written in an older version', () => {
    const api = theia();
    const older = { ...APP_DEFINITIONS, version: 'v1beta10' };
    expect(api.create(older, appDefinition(SPEC, 'v1beta10')).body.apiVersion).toBe('theia.cloud/v1beta10');
    expect(api.merge(older, 'java', { spec: { minInstances: 4 } }).body.metadata.generation).toBe(2);
    expect(api.get(APP_DEFINITIONS, 'java').body).toMatchObject({ spec: { minInstances: 4 } });
  });
});

describe('the route of the gateway', () => {
  const rule = { matches: [{ path: { value: '/instances/x-1/' } }] };
  const rewriting = (type: string) => ({
    ...rule,
    filters: [
      { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } } },
    ],
    matches: [{ path: { type, value: '/instances/x-1/' } }],
    backendRefs: [{ name: 'x', port: 5000 }],
  });
  const route = (rules: unknown) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'route' },
    spec: { parentRefs: [{ name: 'gateway' }], rules },
  });

  it('gets the defaults of its nested schemas', () => {
    const { body } = theia().create(ROUTES, route([rule]));
    expect(body['spec']).toEqual({
      parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gateway' }],
      rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/instances/x-1/' } }] }],
    });
  });

  it('accepts a rewrite of a prefix and refuses one of an exact path', () => {
    expect(theia().create(ROUTES, route([rewriting('PathPrefix')])).code).toBe(201);
    const { code, message } = refusal(theia().create(ROUTES, route([rewriting('Exact')])));
    expect(code).toBe(422);
    expect(message).toMatch(
      /^HTTPRoute\.gateway\.networking\.k8s\.io "route" is invalid: spec\.rules\[0\]: /,
    );
  });

  it('refuses a path that does not begin with a slash', () => {
    const answer = theia().create(ROUTES, route([{ matches: [{ path: { value: 'x' } }] }]));
    expect(answer.code).toBe(422);
  });
});

describe('a custom object', () => {
  it('gets defaults only inside of what is there', () => {
    const api = openApi();
    const { spec: _, ...bare } = widget('bare');
    expect(api.create(WIDGETS, bare).body['spec']).toBeUndefined();
    expect(api.create(WIDGETS, widget('empty')).body['spec']).toEqual({ size: 1, mode: 'Eager' });
    const spec = { envs: [{ name: 'A' }], size: null, note: null, min: null };
    expect(api.create(WIDGETS, widget('nested', spec)).body['spec']).toEqual({
      size: 1,
      mode: 'Eager',
      note: null,
      envs: [{ name: 'A', value: 'none' }],
    });
  });

  it('keeps empty lists and maps', () => {
    const { body } = openApi().create(WIDGETS, widget('a', { tags: [], envs: [], free: {} }));
    expect(body['spec']).toMatchObject({ tags: [], envs: [], free: {} });
  });

  it('loses unknown fields with a warning each, unless the schema keeps them', () => {
    const api = openApi();
    const spec = { bogus: 1, free: { anything: { goes: null } } };
    const { body, warnings } = api.create(WIDGETS, widget('a', spec, { bogusmeta: 1 }));
    expect(body['spec']).toEqual({ size: 1, mode: 'Eager', free: { anything: { goes: null } } });
    expect(warnings).toEqual(['unknown field "metadata.bogusmeta"', 'unknown field "spec.bogus"']);
    const silent = api.create(WIDGETS, widget('b', spec), { options: { fieldValidation: 'Ignore' } });
    expect(silent.warnings).toEqual([]);
  });

  it('is refused for unknown fields when asked to be strict', () => {
    const api = openApi();
    const strict = { options: { fieldValidation: 'Strict' } } as const;
    expect(refusal(api.create(WIDGETS, widget('a', { bogus: 1 }, { bogusmeta: 1 }), strict))).toMatchObject({
      code: 400,
      message:
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "metadata.bogusmeta", unknown field "spec.bogus"',
    });
    api.create(WIDGETS, widget('a'));
    const patched = refusal(api.merge(WIDGETS, 'a', { spec: { bogus: 1 } }, strict));
    expect(patched.code).toBe(422);
    expect(patched.message).toMatch(
      /^ "" is invalid: patch: Invalid value: "\{.*strict decoding error: unknown field "spec.bogus"$/,
    );
  });

  it.each([
    {
      spec: { size: 1000 },
      message: 'spec.size: Invalid value: 1000: spec.size in body should be less than or equal to 100',
      reason: 'FieldValueInvalid',
    },
    {
      spec: { image: 'NO' },
      message: 'spec.image: Invalid value: "NO": spec.image in body should match \'^[a-z]+$\'',
      reason: 'FieldValueInvalid',
    },
    {
      spec: { tags: ['a', 'a'] },
      message: 'spec.tags[1]: Duplicate value: "a"',
      reason: 'FieldValueDuplicate',
    },
    {
      spec: { envs: [{ name: 'A' }, { name: 'A' }] },
      message: 'spec.envs[1]: Duplicate value: {"name":"A"}',
      reason: 'FieldValueDuplicate',
    },
    {
      spec: { min: 5, size: 4 },
      message: 'spec: Invalid value: "object": min must not exceed size',
      reason: 'FieldValueInvalid',
    },
  ])('is refused: $message', ({ spec, message, reason }) => {
    const seen = refusal(openApi().create(WIDGETS, widget('a', spec)));
    expect(seen).toMatchObject({ code: 422, message: `Widget.g.dev "a" is invalid: ${message}` });
    expect((seen.details as { causes: { reason: string }[] }).causes[0]?.reason).toBe(reason);
  });

  it.each([
    {
      spec: { mode: 'q' },
      cause: {
        reason: 'FieldValueNotSupported',
        message: 'Unsupported value: "q": supported values: "Eager", "Lazy"',
        field: 'spec.mode',
      },
    },
    {
      spec: { envs: [{}] },
      cause: { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.envs[0].name' },
    },
    {
      spec: { port: 1.5 },
      cause: {
        reason: 'FieldValueTypeInvalid',
        message: 'Invalid value: "number": spec.port in body must be of type integer,string: "number"',
        field: 'spec.port',
      },
    },
  ])('is refused, its rules unchecked: $cause.message', ({ spec, cause }) => {
    const { details } = refusal(openApi().create(WIDGETS, widget('a', spec)));
    const { causes } = details as { causes: unknown[] };
    expect(causes).toHaveLength(2);
    expect(causes[0]).toEqual(cause);
    expect(causes[1]).toMatchObject({ field: '<nil>' });
  });

  it('takes a number or a name for a port', () => {
    const api = openApi();
    expect(api.create(WIDGETS, widget('a', { port: 80 })).code).toBe(201);
    expect(api.create(WIDGETS, widget('b', { port: 'http' })).code).toBe(201);
  });

  it('cannot change what its rule fixes, but can remove it and set it again', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', { fixed: 'x' }));
    expect(api.merge(WIDGETS, 'a', { spec: { fixed: 'y' } }).code).toBe(422);
    expect(api.merge(WIDGETS, 'a', { spec: { fixed: null } }).code).toBe(200);
    expect(api.merge(WIDGETS, 'a', { spec: { fixed: 'y' } }).code).toBe(200);
  });

  it('may keep what an earlier schema allowed as long as nobody touches it', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', { size: 90 }));
    const definition = api.get(DEFINITIONS, 'widgets.g.dev').body;
    const tightened = JSON.parse(JSON.stringify(definition).replace('"maximum":100', '"maximum":50'));
    expect(api.update(DEFINITIONS, 'widgets.g.dev', tightened).code).toBe(200);
    expect(api.merge(WIDGETS, 'a', { spec: { image: 'ok' } }).code).toBe(200);
    expect(api.merge(WIDGETS, 'a', { spec: { size: 80 } }).code).toBe(422);
  });
});

describe('a CustomResourceDefinition', () => {
  it('is established at once and says its names', () => {
    const { body } = openApi().get(DEFINITIONS, 'widgets.g.dev');
    expect(body['status']).toMatchObject({
      acceptedNames: { kind: 'Widget', singular: 'widget', listKind: 'WidgetList' },
      conditions: [
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ],
      storedVersions: ['v1'],
    });
  });

  it('is refused with a rule that does not compile or is not supported', () => {
    const api = openApi();
    const broken = (rule: object) => {
      const text = JSON.stringify(WIDGET_CRD)
        .replaceAll('idget', 'adget')
        .replace('{"rule":"self == oldSelf","message":"fixed stays"}', JSON.stringify(rule));
      return refusal(api.create(DEFINITIONS, JSON.parse(text)));
    };
    expect(broken({ rule: 'self ==' })).toMatchObject({ code: 422 });
    expect(broken({ rule: 'self.isQuantumly()' }).message).toContain('compilation failed');
    expect(broken({ rule: 'true', optionalOldSelf: true }).message).toContain(
      'optionalOldSelf is not supported',
    );
  });

  it('takes its kind along when it goes, but not its objects', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a'));
    expect(api.remove(DEFINITIONS, 'widgets.g.dev').code).toBe(501);
    api.remove(WIDGETS, 'a');
    expect(api.remove(DEFINITIONS, 'widgets.g.dev').code).toBe(200);
    expect(api.get(WIDGETS, 'a').body['message']).toBe('the server could not find the requested resource');
  });
});
