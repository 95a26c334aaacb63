// Builds the executable: `dist/hookline` for this machine, or with `--all` one for each target, with
// their checksums. Bun fetches the runtime of another target from the package registry, once.

import { mkdir, rm } from 'node:fs/promises'

const TARGETS = {
  'darwin-arm64': 'bun-darwin-arm64',
  'darwin-x64': 'bun-darwin-x64',
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-arm64',
  'linux-x64-musl': 'bun-linux-x64-musl',
  'linux-arm64-musl': 'bun-linux-arm64-musl',
} as const satisfies Record<string, Bun.Build.CompileTarget>

const ROOT = `${import.meta.dir}/..`
const DIST = `${ROOT}/dist`

if (process.argv.includes('--all')) await buildAll()
else await build(`${DIST}/hookline`)

async function buildAll(): Promise<void> {
  const sums: string[] = []
  for (const [name, target] of Object.entries(TARGETS)) {
    const file = `hookline-${name}`
    await build(`${DIST}/${file}`, target)
    const bytes = await Bun.file(`${DIST}/${file}`).bytes()
    sums.push(`${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}  ${file}\n`)
  }
  await Bun.write(`${DIST}/SHA256SUMS`, sums.join(''))
  // Bun's own signature is good for arm64 only.
  console.log('On a Mac, before it is used: codesign --force --sign - dist/hookline-darwin-x64')
}

async function build(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  const startedAt = performance.now()
  await mkdir(DIST, { recursive: true })
  // A running executable cannot be written over, but its name can be given to another file.
  await rm(outfile, { force: true })
  await Bun.build({
    entrypoints: [`${ROOT}/src/main.ts`, `${ROOT}/src/storage/backup-worker.ts`],
    // Flat names: `new URL('./backup-worker.ts', import.meta.url)` is right here as in the sources.
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    bytecode: true,
    // Not minified: without its white space Elysia's compiled handlers break.
    minify: false,
    sourcemap: 'linked',
    define: { 'process.env.NODE_ENV': '"production"' },
    compile: {
      outfile,
      ...(target === undefined ? {} : { target }),
      // Else it would read `.env`, and run the preload of `bunfig.toml`, of whatever folder it is in.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  })
  const { size } = Bun.file(outfile)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(`${outfile.split('/').at(-1)}: ${Math.round(size / 1e6)} MB in ${seconds} s`)
}
