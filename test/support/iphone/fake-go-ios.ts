// go-ios for tests: the commands with which an agent is started. What it prints, and with which exit code,
// is what go-ios 1.3.2 printed here or what its source says (cmd_tunnel.go, cmd_device_debug.go,
// cmd_device_testing.go, tunnel_api.go).

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { FakeTool } from './fake-tool.ts'

type Line = Readonly<Record<string, string>>

const TUNNEL_REFUSED = `TunnelInfoForDevice: failed to get tunnel info: Get "http://127.0.0.1:60105/tunnels": dial tcp 127.0.0.1:60105: connect: connection refused`
const TESTMANAGERD = 'runXUITestWithBundleIdsXcode15Ctx'

/** How `ios image auto` goes on. */
export const IMAGE_SAYS = {
  mounted: says([{ level: 'INFO', msg: 'success mounting image' }], 0),
  no_internet: says(
    [
      {
        level: 'ERROR',
        msg: 'failed downloading image',
        err: 'Get "https://deviceboxhq.com/ddi-17E5179g.zip": dial tcp: lookup deviceboxhq.com: no such host',
      },
    ],
    0,
  ),
  not_signed: mountingFails(
    'MountImage: failed to get signature from Apple: dial tcp: i/o timeout',
  ),
  too_old: mountingFails('MountImage: could not find identity for identifiers {BoardId:8}: no'),
  locked: mountingFails('MountImage: device responded with error: DeviceLocked'),
  unknown: mountingFails('MountImage: command failed'),
  gone: says([{ level: 'ERROR', msg: 'Device not found: 00008110', err: "Device '00008110'" }], 1),
  crash: `echo 'panic: runtime error: index out of range' >&2; exit 2`,
  hang: 'exec sleep 60',
  stubborn: `trap '' TERM; : > "$here/hangs"; exec sleep 60`,
} as const

/** How `ios runwda` goes on. */
export const AGENT_SAYS = {
  runs: 'exec sleep 60',
  stubborn: `trap '' TERM; : > "$here/runs"; exec sleep 60`,
  not_installed: agentFails(
    `${TESTMANAGERD}: cannot get test app information: Did not find test app for 'com.example' on device. Is it installed?`,
  ),
  refused: agentFails(
    `${TESTMANAGERD}: cannot start test runner: LaunchAppWithStdIo: failed to launch app: launchApp: failed to get PID: pidFromResponse: could not get pid from response`,
  ),
  not_trusted: agentFails(
    'Failed starting process: Unable to launch com.example because it has an invalid code signature, inadequate entitlements or its profile has not been explicitly trusted by the user',
  ),
  no_image: agentFails(
    `${TESTMANAGERD}: cannot create a tunnel connection to testmanagerd: ConnectToServiceTunnelIface: service 'com.apple.dt.testmanagerd.remote' is not available in RSD. If it is provided by the developer disk image, make sure a recent image is mounted`,
  ),
  no_tunnel: agentFails(
    `${TESTMANAGERD}: cannot create a tunnel connection to testmanagerd: ConnectToServiceTunnelIface: Cannot connect to com.apple.dt.testmanagerd.remote, missing tunnel address and RSD port. To start the tunnel, run \`ios tunnel start\``,
  ),
  stale_tunnel: says(
    [
      {
        level: 'ERROR',
        msg: 'could not connect to RSD, host fd81:1::1, port 51000',
        err: 'dial timed out after 15s',
      },
    ],
    1,
  ),
  passcode: agentFails('Timed out while enabling automation mode.'),
  gone: says([{ level: 'ERROR', msg: 'Device not found: 00008110', err: "Device '00008110'" }], 1),
  let_go: agentFails('lost connection to testmanagerd. the test-runner may have been killed'),
  ended: says([{ level: 'ERROR', msg: 'WDA process ended unexpectedly' }], 1),
  silent: 'exit 3',
} as const

/** How `ios tunnel start` goes on. */
export const TUNNEL_SAYS = {
  stands: `echo $$ > "$here/tunnel"; exec sleep 60`,
  stubborn: `trap '' TERM; echo $$ > "$here/tunnel"; exec sleep 60`,
  hangs: 'exec sleep 60',
} as const

const SCRIPT = `
say() { cat "$here/says.$1" 2>/dev/null; }
[ "$1 $2" = "$(cat "$here/hangs_on" 2>/dev/null)" ] && exec sleep 60
case "$1 $2" in
'tunnel ls')
  if kill -0 "$(cat "$here/tunnel" 2>/dev/null)" 2>/dev/null; then cat "$here/phones"; exit 0; fi
  ${says([{ level: 'ERROR', msg: 'failed to get tunnel infos', err: TUNNEL_REFUSED }], 1)} ;;
'tunnel start') eval "$(say tunnel)" ;;
'tunnel refresh') cat "$here/phones"; exit 0 ;;
'image auto') eval "$(say image)" ;;
version*) say version ;;
runwda*) eval "$(say agent)" ;;
esac`

export class FakeGoIos {
  readonly tool: FakeTool

  constructor(folder: string) {
    this.tool = new FakeTool(folder, 'ios', SCRIPT)
    this.version = '1.3.2'
    this.image = 'mounted'
    this.agent = 'runs'
    this.tunnel = 'stands'
    this.phones = []
  }

  /** What `ios version` tells of it. */
  set version(version: string) {
    this.tool.put('says.version', JSON.stringify({ version }))
  }

  set image(name: keyof typeof IMAGE_SAYS) {
    this.tool.put('says.image', IMAGE_SAYS[name])
  }

  set agent(name: keyof typeof AGENT_SAYS) {
    this.tool.put('says.agent', AGENT_SAYS[name])
  }

  set tunnel(name: keyof typeof TUNNEL_SAYS) {
    this.tool.put('says.tunnel', TUNNEL_SAYS[name])
  }

  /** Those to which there is a tunnel as soon as its process runs. */
  set phones(udids: readonly string[]) {
    const entries = udids.map((udid) => ({ address: 'fd81:1::1', rsdPort: 51_000, udid }))
    this.tool.put('phones', JSON.stringify(entries))
  }

  /** The tunnel's process; null where none has come up. */
  get tunnelPid(): number | null {
    const file = join(this.tool.folder, 'tunnel')
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    return text.endsWith('\n') ? Number(text) : null
  }

  forgetTunnel(): void {
    rmSync(join(this.tool.folder, 'tunnel'), { force: true })
  }

  /** The calls that begin with these words. */
  callsOf(...words: readonly string[]): readonly (readonly string[])[] {
    const isOne = (args: readonly string[]) => words.every((word, index) => args[index] === word)
    return this.tool.argsOfCalls().filter(isOne)
  }
}

function agentFails(error: string): string {
  return says([{ level: 'ERROR', msg: 'Failed running WDA', error }], 1)
}

function mountingFails(err: string): string {
  return says([{ level: 'ERROR', msg: 'error mounting image', err }], 1)
}

function says(lines: readonly Line[], exitCode: number): string {
  const time = '2026-11-21T10:00:00.1Z'
  const texts = lines.map((line) => JSON.stringify({ time, ...line }).replaceAll("'", `'\\''`))
  return `printf '%s\\n' ${texts.map((text) => `'${text}'`).join(' ')} >&2; exit ${exitCode}`
}
