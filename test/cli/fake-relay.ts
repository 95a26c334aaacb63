import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { on, type CommandText } from '../support/command-line.ts'
import type { CommandResult } from '../support/executable.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/** Stands in for a relay at the control socket of a data directory, and notes what it is asked. */
export class FakeRelay implements Disposable {
  readonly asked: Asked[] = []
  readonly headers: Headers[] = []
  readonly #server: Bun.Server<undefined>

  constructor(dataDir: string, answer: (asked: Asked) => Response) {
    this.#server = Bun.serve({
      unix: dataDirectoryAt(dataDir).controlSocket,
      fetch: async (request) => {
        const { pathname, search, searchParams } = new URL(request.url)
        if (pathname === '/healthz') return new Response('ok')
        const text = await request.text()
        const body: unknown = text === '' ? null : JSON.parse(text)
        const asked = { method: request.method, path: pathname + search, body }
        this.asked.push(asked)
        this.headers.push(request.headers)
        return Number(searchParams.get('limit')) > LIMIT_MAX
          ? Response.json(TOO_MANY, { status: 400 })
          : answer(asked)
      },
    })
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }
}

/** A relay refuses longer pages. */
const LIMIT_MAX = 200
const TOO_MANY = {
  error: { code: 'invalid_request', message: 'limit: must be a whole number from 1 to 200' },
}

type Beside = CommandResult & Pick<FakeRelay, 'asked' | 'headers'>

/** Runs a command beside a relay that answers `body` to everything, or what it gives for each request. */
export async function runBeside(line: CommandText, body: unknown, status = 200): Promise<Beside> {
  using folder = new ScratchFolder()
  const answer = typeof body === 'function' ? body : () => body
  using relay = new FakeRelay(folder.path, (asked) => Response.json(answer(asked), { status }))
  const finished = await on(folder, line)
  return { ...finished, asked: relay.asked, headers: relay.headers }
}
