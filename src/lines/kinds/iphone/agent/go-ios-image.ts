import { whenAborted } from '../../../../system/clock.ts'
import type { ProcessEnd } from '../../../../system/process.ts'
import { complaints, hasError, IMAGE_WORDS } from './go-ios-words.ts'
import { CALLED_OFF, startTrouble, troubleIn } from './launch-words.ts'
import type { LauncherProcesses } from './launcher-processes.ts'
import type { LaunchTrouble } from './launcher.ts'

type ImageTools = {
  readonly processes: LauncherProcesses
  readonly goIosPath: string
  /** Where go-ios keeps the images that it has loaded. */
  readonly folder: string
}

const IMAGE_LIMITS = { timeoutMs: 120_000, killAfterMs: 125_000 }

/** Apple's disk image for developers, which a phone loses whenever it restarts. */
export class GoIosImage {
  readonly #tools: ImageTools
  /** Whether go-ios has an image: until then one phone after the other, as two loads spoil each other. */
  #isLoaded = false
  #loading: Promise<unknown> | null = null

  constructor(tools: ImageTools) {
    this.#tools = tools
  }

  /** Null once it is mounted; `udid` as go-ios writes it. */
  async mount(udid: string, signal: AbortSignal): Promise<LaunchTrouble | null> {
    while (!this.#isLoaded && this.#loading !== null && !signal.aborted) {
      await Promise.race([this.#loading, whenAborted(signal)])
    }
    if (this.#isLoaded) return await this.#mount(udid, signal)
    const mounting = this.#mount(udid, signal)
    this.#loading = mounting.finally(() => {
      this.#loading = null
    })
    return await mounting
  }

  async #mount(udid: string, signal: AbortSignal): Promise<LaunchTrouble | null> {
    const { processes, goIosPath: path, folder } = this.#tools
    const args = ['image', 'auto', `--udid=${udid}`, `--basedir=${folder}`]
    const trouble = mountTrouble(await processes.run({ path, args, ...IMAGE_LIMITS }, signal))
    if (trouble === null) this.#isLoaded = true
    return trouble
  }
}

function mountTrouble(end: ProcessEnd): LaunchTrouble | null {
  if (end.end === 'not_started') return startTrouble(end.why)
  if (end.end === 'killed') {
    if (end.why === 'aborted') return CALLED_OFF
    return { code: 'image_mount_failed', why: 'It was not mounted within two minutes.' }
  }
  const lines = end.stderr.split('\n')
  if (end.exitCode === 0 && !hasError(lines)) return null
  const said = troubleIn(complaints(lines), IMAGE_WORDS)
  return said ?? { code: 'image_mount_failed', why: 'go-ios could not mount it.' }
}
