// Builds the executable: `dist/hookline` for this machine, or with `--all` one for each target, with
// their checksums; `--target NAME` builds some of them, `--to FOLDER` elsewhere. With `--repository`, guides
// name its releases. Bun fetches the runtime of another target from the package registry, once.

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'

import { manualFiles } from '../src/http/manual-files.ts'
import { bundlePage } from '../src/http/page-bundle.ts'
import type { StaticFile } from '../src/http/static-file.ts'
import { readMachO, signatureProblem } from './mach-o.ts'
import { namedInGuides, repositoryUrl } from './release/repository.ts'
import { TARGETS, targetsOf, type TargetName } from './release/targets.ts'
import { unusedThemes } from './release/unused-themes.ts'

const ROOT = `${import.meta.dir}/..`
const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    target: { type: 'string', multiple: true, default: [] },
    to: { type: 'string', default: `${ROOT}/dist` },
    repository: { type: 'string' },
  },
})
const DIST = options.to
const guides =
  options.repository === undefined ? [] : [namedInGuides(repositoryUrl(options.repository))]

/** Bytes of the packed files, by the names of their modules. */
const packed = new Map<string, Uint8Array>()

/**
 * The page is bundled on its own and replaces its HTML file. Bundled with the server it would keep its
 * white space, as the server must: half as much again to load.
 */
const pageIndex = `${ROOT}/src/dashboard/index.html`
const pageFiles = await embedded(await bundlePage(pageIndex))
const embeddedPage: Bun.BunPlugin = {
  name: 'embedded page',
  setup(build) {
    build.onResolve({ filter: /\/dashboard\/index\.html$/ }, () => {
      return { path: 'page', namespace: 'embedded' }
    })
    build.onLoad({ filter: /./, namespace: 'embedded' }, () => {
      const { imports, sources } = pageFiles
      const page = `{ index: 'embedded', embedded: [${sources.join()}] }`
      return { contents: `${imports}export default ${page}`, loader: 'js' }
    })
  },
}

/** Puts the packed files of the manual in the place of the module that would read and pack them. */
const ofManual = await embedded(await manualFiles('best'))
const embeddedManual: Bun.BunPlugin = {
  name: 'embedded manual',
  setup(build) {
    build.onLoad({ filter: /\/http\/manual-files\.ts$/ }, () => {
      const { imports, sources } = ofManual
      const contents = `${imports}export const manualFiles = async () => [${sources.join()}]`
      return { contents, loader: 'js' }
    })
  },
}

/** Packed files in JavaScript: their bytes are files in the executable, which are read once they are served. */
async function embedded(files: readonly StaticFile[]) {
  const imports: string[] = []
  const sources: string[] = []
  for (const { brotli, ...facts } of files) {
    const name = `packed${packed.size}`
    packed.set(name, await brotli.bytes())
    imports.push(`import ${name} from 'packed:${name}'\n`)
    sources.push(`{ ...${JSON.stringify(facts)}, brotli: Bun.file(${name}) }`)
  }
  return { imports: imports.join(''), sources }
}

const embeddedBytes: Bun.BunPlugin = {
  name: 'embedded bytes',
  setup(build) {
    build.onResolve({ filter: /^packed:/ }, ({ path }) => {
      return { path: path.replace('packed:', ''), namespace: 'packed' }
    })
    build.onLoad({ filter: /./, namespace: 'packed' }, ({ path }) => {
      return { contents: packed.get(path) ?? '', loader: 'file' }
    })
  },
}

/** All that is used of the MCP package, small, and without the validator that it brings: ours is typebox. */
const mcpEntry = `
  export { McpServer, ResourceTemplate, createMcpHandler, fromJsonSchema } from '@modelcontextprotocol/server'
  export { serveStdio } from '@modelcontextprotocol/server/stdio'`
const mcpShims = `
  export { default as process } from 'node:process'
  export class DefaultJsonSchemaValidator {}`
const mcp = await Bun.build({
  entrypoints: ['mcp'],
  target: 'bun',
  minify: true,
  plugins: [
    virtual(/^mcp$/, mcpEntry, `${ROOT}/`),
    virtual(/^@modelcontextprotocol\/server\/_shims$/, mcpShims),
  ],
})
const embeddedMcp = virtual(/^@modelcontextprotocol\/server/, (await mcp.outputs[0]?.text()) ?? '')

/**
 * Answers imports that match with a module of this text, in the folder from which it imports others. Any path
 * goes into the executable, which is to be the same wherever it is built.
 */
function virtual(filter: RegExp, contents: string, folder = ''): Bun.BunPlugin {
  const namespace = `virtual${Bun.hash(filter.source)}`
  return {
    name: namespace,
    setup(build) {
      build.onResolve({ filter }, () => ({ path: `${folder}${namespace}.js`, namespace }))
      build.onLoad({ filter: /./, namespace }, () => ({ contents, loader: 'js' }))
    },
  }
}

const PLUGINS = [embeddedPage, embeddedManual, embeddedBytes, embeddedMcp, unusedThemes]

if (options.all) await buildTargets(targetsOf([]))
else if (options.target.length > 0) await buildTargets(targetsOf(options.target))
else await build(`${DIST}/hookline`)

async function buildTargets(targets: readonly TargetName[]): Promise<void> {
  const sums: string[] = []
  for (const name of targets) {
    const file = `hookline-${name}`
    await build(`${DIST}/${file}`, TARGETS[name].compile)
    const bytes = await Bun.file(`${DIST}/${file}`).bytes()
    sums.push(`${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}  ${file}\n`)
    if (name.startsWith('darwin-')) printSignature(file, bytes)
  }
  await Bun.write(`${DIST}/SHA256SUMS`, sums.join(''))
}

/** Bun signs executables for a Mac, but its signature is not valid on every processor. */
function printSignature(file: string, bytes: Uint8Array): void {
  const executable = readMachO(bytes)
  const problem = signatureProblem(executable)
  const oldest = `${file}: from macOS ${executable.minimumMacos ?? '?'} on`
  if (problem === null) return console.log(`${oldest}; signature is valid`)
  console.log(`${oldest}; it ${problem}`)
  console.log(`Sign it on a Mac first: codesign --force --sign - ${file}`)
}

/** Builds the executable, and beside it the map for `scripts/resolve-trace.ts`, which would be 5 MB inside. */
async function build(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  const startedAt = performance.now()
  await mkdir(DIST, { recursive: true })
  // A running executable cannot be written over, but its name can be given to another file.
  await rm(outfile, { force: true })
  await bundle(outfile, { target, sourcemap: 'none' })
  const folder = await mkdtemp(`${outfile}-map-`)
  try {
    // Bun writes maps only beside an executable that has them inside too.
    await bundle(`${folder}/${basename(outfile)}`, { target, sourcemap: 'external' })
    await writeMap(`${outfile}.map`, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
  const { size } = Bun.file(outfile)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(`${basename(outfile)}: ${Math.round(size / 1e6)} MB in ${seconds} s`)
}

async function bundle(
  outfile: string,
  order: {
    readonly target: Bun.Build.CompileTarget | undefined
    readonly sourcemap: 'none' | 'external'
  },
): Promise<void> {
  const { target, sourcemap } = order
  await Bun.build({
    entrypoints: [`${ROOT}/src/main.ts`, `${ROOT}/src/storage/backup-worker.ts`],
    // Flat names: `new URL('./backup-worker.ts', import.meta.url)` is right here as in the sources.
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    bytecode: true,
    // A dynamic import becomes a file of its own, which is read, with its bytecode, once it is imported.
    splitting: true,
    // Not minified: without its white space Elysia's compiled handlers break.
    minify: false,
    plugins: [...PLUGINS, ...guides],
    sourcemap,
    define: { 'process.env.NODE_ENV': '"production"' },
    compile: {
      outfile,
      ...(target === undefined ? {} : { target }),
      // Else it would read `.env`, and run the preload of `bunfig.toml`, of whatever folder it is in.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  })
}

/** Gathers the maps in `folder` in one file, by the names of their scripts; the sources are in the repository. */
async function writeMap(path: string, folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.map')).sort()
  const maps: Record<string, object> = {}
  for (const name of names) {
    const map: { readonly sourcesContent: unknown } = await Bun.file(`${folder}/${name}`).json()
    maps[name.replace(/(\.js)?\.map$/, '')] = { ...map, sourcesContent: undefined }
  }
  await Bun.write(path, JSON.stringify(maps))
}
