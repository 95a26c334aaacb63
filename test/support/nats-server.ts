import { findTool } from '../../src/system/process.ts'

const OWN = `${import.meta.dir}/../../.tools/bin/nats-server`

/** What the tests of several boxes need, in words. */
export const A_BROKER = 'nats-server 2.10.4 or later'

/** Path of a nats-server that is new enough, or null: tests that need it are skipped without. */
export const NATS_SERVER = [OWN, findTool('nats-server')].find(isUsable) ?? null

function isUsable(path: string | null): boolean {
  try {
    const { stdout } = Bun.spawnSync([path ?? '', '--version'])
    const [, minor = '0', patch = '0'] = /v2\.(\d+)\.(\d+)/.exec(stdout.toString()) ?? []
    return Number(minor) > 10 || (Number(minor) === 10 && Number(patch) >= 4)
  } catch {
    return false
  }
}
