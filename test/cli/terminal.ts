import { builtExecutable, cleanEnvironment } from '../support/executable.ts'
import type { ScratchFolder } from '../support/scratch-folder.ts'

/** What a person sees who starts a relay at a terminal and stops it by Ctrl-C. */
export async function serveAtTerminal(
  folder: ScratchFolder,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  let seen = ''
  const child = Bun.spawn([builtExecutable(), 'serve', '--port', '0'], {
    env: cleanEnvironment({ HOOKLINE_DATA_DIR: folder.path, ...environment }),
    terminal: {
      cols: 200,
      data(_terminal, data) {
        seen += new TextDecoder().decode(data)
        if (seen.includes('hookline listening on')) child.kill('SIGINT')
      },
    },
  })
  await child.exited
  return seen.replaceAll('\r', '')
}
