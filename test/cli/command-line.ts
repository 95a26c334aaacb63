import { join } from 'node:path'

import { dataDirectoryAt } from '../../src/system/data-directory.ts'

export const MAIN = join(import.meta.dir, '..', '..', 'src', 'main.ts')

export type Finished = {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `hookline` as a process of its own, with no option but those given here. */
export async function hookline(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    env: plainEnvironment(environment),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr }
}

/** No option of the person who runs the tests reaches the process. */
export function plainEnvironment(
  more: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return { PATH: process.env['PATH'], HOME: '/nowhere', ...more }
}

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
