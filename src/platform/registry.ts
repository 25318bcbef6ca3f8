import type { Policy } from '../pool/types.ts';
import type { Platform } from './platform.ts';
import type { Settings } from './theia-cloud/settings.ts';
import { createTheiaCloud } from './theia-cloud/theia-cloud.ts';

export interface PlatformOptions {
  /** The mode of pools whose WarmPool does not name one. */
  readonly mode: Policy['mode'];
  /** Settings of Theia Cloud's operator where none runs. */
  readonly theiaCloud?: Settings;
}

/** Every platform that Everwarm knows: a folder each, and a line here. */
export function createPlatforms({ mode, theiaCloud }: PlatformOptions): readonly Platform[] {
  return [createTheiaCloud({ mode, ...(theiaCloud === undefined ? {} : { settings: theiaCloud }) })];
}
