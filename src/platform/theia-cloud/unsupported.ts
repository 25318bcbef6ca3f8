import type { AppDefinition } from './crds.ts';
import type { Settings } from './settings.ts';

/** One sentence on what `appDefinition` or the operator asks for and is not rendered here yet; `undefined` when all of it is. */
export function unsupported(appDefinition: AppDefinition, settings: Settings): string | undefined {
  const what = asked(appDefinition, settings).find(([, isAsked]) => isAsked)?.[0];
  return what === undefined ? undefined : `${what} is not supported yet`;
}

function asked(
  { spec }: AppDefinition,
  settings: Settings,
): readonly (readonly [what: string, isAsked: boolean])[] {
  const isLimited = settings.bandwidthLimiter !== 'NONE';
  return [
    ['spec.sidecars', (spec.sidecars ?? []).length > 0],
    ['spec.options.dataBridgeEnabled', isOn(spec.options?.['dataBridgeEnabled'])],
    ['spec.monitor', (spec.monitor?.port ?? 0) > 0],
    ['spec.downlinkLimit', isLimited && (spec.downlinkLimit ?? 0) > 0],
    ['spec.uplinkLimit', isLimited && (spec.uplinkLimit ?? 0) > 0],
    ['the operator option --enableBuildCaching', settings.enableBuildCaching],
    ['the operator option --enableDependencyCaching', settings.enableDependencyCaching],
    // Without it the operator hands out no warm instances: whatever is kept warm would wait for nobody.
    ['an operator without --eagerStart', !settings.eagerStart],
  ];
}

function isOn(option: string | number | undefined): boolean {
  return ['1', 'true'].includes(String(option).toLowerCase());
}
