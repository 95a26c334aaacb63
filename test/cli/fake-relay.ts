import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { hookline } from '../support/executable.ts'
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
        const { pathname, search } = new URL(request.url)
        if (pathname === '/healthz') return new Response('ok')
        const text = await request.text()
        const body: unknown = text === '' ? null : JSON.parse(text)
        const asked = { method: request.method, path: pathname + search, body }
        this.asked.push(asked)
        this.headers.push(request.headers)
        return answer(asked)
      },
    })
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }
}

/** Runs a command beside a relay that answers `body` to everything. */
export async function runBeside(
  args: readonly string[],
  body: unknown,
  status = 200,
): Promise<{ exitCode: number; stdout: string; stderr: string; asked: readonly Asked[] }> {
  using folder = new ScratchFolder()
  using relay = new FakeRelay(folder.path, () => Response.json(body, { status }))
  const finished = await hookline(args, { HOOKLINE_DATA_DIR: folder.path })
  return { ...finished, asked: relay.asked }
}
