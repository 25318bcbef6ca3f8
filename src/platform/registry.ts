import { createEducates } from './educates/educates.ts';
import type { Platform } from './platform.ts';
import type { Settings } from './theia-cloud/settings.ts';
import { createTheiaCloud } from './theia-cloud/theia-cloud.ts';
import type { UnnamedMode } from './warm-pool.ts';

export interface PlatformOptions {
  /** The mode of pools whose WarmPool does not name one. */
  readonly mode: UnnamedMode;
  /** Settings of Theia Cloud's operator where none runs; its proxy image everywhere. */
  readonly theiaCloud?: Settings;
}

/** Every platform that Everwarm knows: a folder each, and a line here. */
export function createPlatforms(options: PlatformOptions): readonly Platform[] {
  return [theiaCloudOf(options), createEducates(options)];
}

function theiaCloudOf({ mode, theiaCloud }: PlatformOptions): Platform {
  if (theiaCloud === undefined) return createTheiaCloud({ mode });
  // An operator's arguments do not say where it takes the proxy from: the configuration does, beside a running operator too.
  const { oAuth2ProxyImage } = theiaCloud;
  return createTheiaCloud({ mode, settings: theiaCloud, oAuth2ProxyImage });
}
