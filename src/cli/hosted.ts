// What a relay does beside its work where it is a service of its machine: it watches over that machine,
// keeps its log short, and may end itself to be started anew.

import { homedir, platform, userInfo } from 'node:os'

import type { Config } from '../config.ts'
import type { Finding } from '../domain/finding.ts'
import { HostChecks } from '../hosting/host-checks.ts'
import { macLogPath } from '../hosting/launchd-host.ts'
import { LogRotation } from '../hosting/log-rotation.ts'
import { systemClock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { ownExecutable } from '../system/own-executable.ts'
import { processRunner } from '../system/process.ts'
import type { Service } from '../system/service.ts'

export type HostedParts = {
  readonly restart: (why: string) => void
  readonly checkHost: (signal: AbortSignal) => Promise<readonly Finding[]>
  readonly companions: readonly Service[]
}

export function hostedParts(
  { dataDir }: Config,
  { log, restart }: { readonly log: Log; readonly restart: (why: string) => void },
): HostedParts {
  const clock = systemClock
  const { uid, username: userName } = userInfo()
  const checks = new HostChecks({
    run: processRunner(clock),
    clock,
    platform: platform(),
    uid,
    userName,
    executable: ownExecutable(),
    dataDir,
  })
  const isMac = platform() === 'darwin'
  return {
    restart,
    checkHost: (signal) => checks.findings(signal),
    companions: isMac ? [new LogRotation(macLogPath(homedir()), { clock, log })] : [],
  }
}
