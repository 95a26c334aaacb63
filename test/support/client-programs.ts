// Programs with the clients that the executable prints: the examples of the guide, laid out as it says.

import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { hookline } from './executable.ts'
import type { ApiKey } from './relay-process.ts'
import { ScratchFolder } from './scratch-folder.ts'
import { ROOT } from './source-files.ts'

export const LANGUAGES = {
  typescript: { extension: 'ts', command: [process.execPath] },
  python: { extension: 'py', command: ['python3'] },
} as const
export type Language = keyof typeof LANGUAGES

const EXAMPLE = /```(?:ts|python)\n((?:\/\/|#) (\w+\.(?:ts|py))\n[\s\S]*?)```/g

export type Ran = { readonly exitCode: number; readonly output: string }

/** The clients as the executable prints them, each once. */
const texts: { [Name in Language]?: string } = {}

async function textOf(language: Language): Promise<string> {
  using folder = new ScratchFolder()
  const to = folder.file('client')
  const { exitCode, stderr } = await hookline(['client', language, '--out', to])
  if (exitCode !== 0) throw new Error(stderr)
  return readFileSync(to, 'utf8')
}

/** A folder with the client and the examples, gone at the end of the test. */
export class ClientPrograms implements Disposable {
  readonly language: Language
  readonly #folder = new ScratchFolder()

  private constructor(language: Language) {
    this.language = language
  }

  static async layOut(language: Language): Promise<ClientPrograms> {
    const programs = new ClientPrograms(language)
    const { extension } = LANGUAGES[language]
    texts[language] ??= await textOf(language)
    await Bun.write(programs.file(`hookline.${extension}`), texts[language])
    const guide = readFileSync(`${ROOT}/src/guides/clients.md`, 'utf8')
    for (const [, code = '', name = ''] of guide.matchAll(EXAMPLE)) {
      if (name.endsWith(extension)) await Bun.write(programs.file(name), code)
    }
    symlinkSync(`${ROOT}/node_modules`, programs.file('node_modules'))
    mkdirSync(programs.file('cache'))
    return programs
  }

  file(name: string): string {
    return join(this.#folder.path, name)
  }

  /** The names of the files in the language. */
  files(): readonly string[] {
    const { extension } = LANGUAGES[this.language]
    return [...new Bun.Glob(`*.${extension}`).scanSync({ cwd: this.#folder.path })].sort()
  }

  async run(command: readonly string[]): Promise<Ran> {
    const child = this.#spawn(command, {})
    const [output, errors, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { exitCode, output: output + errors }
  }

  /** Starts an example against the relay at `url`. */
  start(example: string, { url, key, secret, environment = {} }: ApiKey & Target): RunningProgram {
    const { command, extension } = LANGUAGES[this.language]
    const given = { HOOKLINE_URL: url, HOOKLINE_KEY: `${key}:${secret}`, ...environment }
    return new RunningProgram(this.#spawn([...command, `${example}.${extension}`], given))
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }

  #spawn(command: readonly string[], more: Readonly<Record<string, string>>) {
    return Bun.spawn([...command], {
      cwd: this.#folder.path,
      env: { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1', ...more },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }
}

type Target = { readonly url: string; readonly environment?: Readonly<Record<string, string>> }

/** An example under way, with the lines that it has printed. */
export class RunningProgram implements AsyncDisposable {
  readonly lines: string[] = []
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  readonly #reading: Promise<string>

  constructor(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>) {
    this.#child = child
    this.#reading = this.#read()
  }

  /** Its lines, once it has ended well; throws with what it wrote on standard error if it has not. */
  async end(): Promise<readonly string[]> {
    const [errors, exitCode] = await Promise.all([this.#reading, this.#child.exited])
    if (exitCode !== 0) throw new Error(`It ended with ${exitCode}: ${errors}`)
    return this.lines
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }

  async #read(): Promise<string> {
    const errors = new Response(this.#child.stderr).text()
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of this.#child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      this.lines.push(...lines)
    }
    return errors
  }
}
