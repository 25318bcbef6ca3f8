import type { Kind, KindVersion, Traits } from '../kind.ts';
import type { Schema } from '../schema/schema.ts';
import {
  checkClaim,
  checkConfigMap,
  checkDefinition,
  checkEvent,
  checkLease,
  checkPod,
  checkQuota,
  checkSecret,
  checkService,
  checkWorkload,
} from './check.ts';
import { columnsOf } from './columns.ts';
import {
  completeClaim,
  completeNamespace,
  completePod,
  completeSecret,
  completeService,
  completeTemplate,
} from './complete.ts';
import * as schemas from './core-schemas.ts';
import { POD } from './pod-schema.ts';

const TRAITS: Traits = {
  custom: false,
  nameRule: 'subdomain',
  generation: 'none',
  createsOnPut: false,
  unconditionalPut: true,
  deleteAnswersObject: false,
  metadataChecks: 4,
  strictFinalizers: true,
  statusTakesMetadata: false,
};

interface BuiltIn extends Partial<Traits> {
  readonly group?: string;
  readonly kind: string;
  readonly plural: string;
  readonly schema: Schema;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly clusterScoped?: boolean;
  readonly status?: boolean;
  readonly scale?: boolean;
}

const BUILT_INS: readonly BuiltIn[] = [
  {
    kind: 'Namespace',
    plural: 'namespaces',
    schema: schemas.NAMESPACE,
    shortNames: ['ns'],
    clusterScoped: true,
    status: true,
    nameRule: 'label',
    deleteAnswersObject: true,
    complete: completeNamespace,
  },
  {
    kind: 'Pod',
    plural: 'pods',
    schema: POD,
    shortNames: ['po'],
    categories: ['all'],
    status: true,
    generation: 'spec',
    deleteAnswersObject: true,
    complete: completePod,
    check: checkPod,
  },
  {
    kind: 'Service',
    plural: 'services',
    schema: schemas.SERVICE,
    shortNames: ['svc'],
    categories: ['all'],
    status: true,
    nameRule: 'service',
    metadataChecks: 3,
    createsOnPut: true,
    deleteAnswersObject: true,
    complete: completeService,
    check: checkService,
  },
  {
    kind: 'ConfigMap',
    plural: 'configmaps',
    schema: schemas.CONFIG_MAP,
    shortNames: ['cm'],
    check: checkConfigMap,
  },
  {
    kind: 'Secret',
    plural: 'secrets',
    schema: schemas.SECRET,
    complete: completeSecret,
    check: checkSecret,
  },
  {
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    schema: schemas.SERVICE_ACCOUNT,
    shortNames: ['sa'],
    deleteAnswersObject: true,
  },
  {
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    schema: schemas.PERSISTENT_VOLUME_CLAIM,
    shortNames: ['pvc'],
    status: true,
    deleteAnswersObject: true,
    metadataChecks: 5,
    complete: completeClaim,
    check: checkClaim,
  },
  {
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    schema: schemas.RESOURCE_QUOTA,
    shortNames: ['quota'],
    status: true,
    check: checkQuota,
    deleteAnswersObject: true,
  },
  {
    kind: 'Event',
    plural: 'events',
    schema: schemas.EVENT,
    shortNames: ['ev'],
    nameRule: 'segment',
    createsOnPut: true,
    metadataChecks: 2,
    strictFinalizers: false,
    check: checkEvent,
  },
  {
    group: 'apps',
    kind: 'Deployment',
    plural: 'deployments',
    schema: schemas.DEPLOYMENT,
    shortNames: ['deploy'],
    categories: ['all'],
    status: true,
    scale: true,
    generation: 'specAndAnnotations',
    complete: completeTemplate,
    check: checkWorkload,
  },
  {
    group: 'apps',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    statusTakesMetadata: true,
    schema: schemas.REPLICA_SET,
    shortNames: ['rs'],
    categories: ['all'],
    status: true,
    scale: true,
    generation: 'spec',
    complete: completeTemplate,
    check: checkWorkload,
  },
  {
    group: 'coordination.k8s.io',
    kind: 'Lease',
    plural: 'leases',
    schema: schemas.LEASE,
    createsOnPut: true,
    strictFinalizers: false,
    unconditionalPut: false,
    check: checkLease,
  },
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    schema: schemas.CUSTOM_RESOURCE_DEFINITION,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    clusterScoped: true,
    status: true,
    generation: 'spec',
    unconditionalPut: false,
    deleteAnswersObject: true,
    check: checkDefinition,
  },
];

function builtIn(definition: BuiltIn): Kind {
  const {
    group = '',
    kind,
    plural,
    schema,
    shortNames = [],
    categories = [],
    clusterScoped,
    status,
    scale,
  } = definition;
  const { complete, check } = definition;
  const version: KindVersion = {
    name: 'v1',
    schema,
    columns: columnsOf(kind),
    status: status === true,
    ...(scale === true ? { scale: SCALE } : {}),
  };
  return {
    resource: { group, version: 'v1', kind, plural, namespaced: clusterScoped !== true },
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames,
    categories,
    versions: [version],
    traits: {
      custom: false,
      nameRule: definition.nameRule ?? TRAITS.nameRule,
      generation: definition.generation ?? TRAITS.generation,
      createsOnPut: definition.createsOnPut ?? TRAITS.createsOnPut,
      unconditionalPut: definition.unconditionalPut ?? TRAITS.unconditionalPut,
      deleteAnswersObject: definition.deleteAnswersObject ?? TRAITS.deleteAnswersObject,
      metadataChecks: definition.metadataChecks ?? (group === '' ? 4 : 3),
      strictFinalizers: definition.strictFinalizers ?? TRAITS.strictFinalizers,
      statusTakesMetadata: definition.statusTakesMetadata ?? (status === true && group === ''),
      ...(complete === undefined ? {} : { complete }),
      ...(check === undefined ? {} : { check }),
    },
  };
}

const SCALE = {
  specReplicas: 'spec.replicas',
  statusReplicas: 'status.replicas',
  labelSelector: 'spec.selector',
};

/** The kinds that every cluster serves. */
export const BUILT_IN_KINDS: readonly Kind[] = BUILT_INS.map(builtIn);
