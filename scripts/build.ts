// Builds the executable: `dist/hookline` for this machine, or with `--all` one for each target, with
// their checksums; `--target NAME` builds some of them, `--to FOLDER` elsewhere. With `--repository`, guides
// name its releases. Bun fetches the runtime of another target from the package registry, once.

import { mkdir, rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'

import { bundlePage } from '../src/http/page-bundle.ts'
import { swaggerFile } from '../src/http/swagger-files.ts'
import { readMachO, signatureProblem } from './mach-o.ts'
import { namedInGuides, repositoryUrl } from './release/repository.ts'
import { TARGETS, targetsOf, type TargetName } from './release/targets.ts'

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

/**
 * The page is bundled on its own and replaces its HTML file. Bundled with the server it would keep its
 * white space, as the server must: half as much again to load.
 */
const pageIndex = `${ROOT}/src/dashboard/index.html`
const pageFiles = await bundlePage(pageIndex)
const embeddedPage: Bun.BunPlugin = {
  name: 'embedded page',
  setup(build) {
    build.onResolve({ filter: /\/dashboard\/index\.html$/ }, () => {
      return { path: 'page', namespace: 'embedded' }
    })
    build.onLoad({ filter: /./, namespace: 'embedded' }, () => {
      const page = { index: 'embedded', embedded: pageFiles }
      return { contents: `export default ${JSON.stringify(page)}`, loader: 'js' }
    })
  },
}

/** Puts the packed files of swagger-ui in the place of the module that would read and pack them. */
const swaggerFiles = {
  script: await swaggerFile('script', 'best'),
  style: await swaggerFile('style', 'best'),
}
const embeddedSwagger: Bun.BunPlugin = {
  name: 'embedded swagger-ui',
  setup(build) {
    build.onLoad({ filter: /\/http\/swagger-files\.ts$/ }, () => {
      const files = `const files = ${JSON.stringify(swaggerFiles)}`
      const contents = `${files}\nexport const swaggerFile = async (name) => files[name]`
      return { contents, loader: 'js' }
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

async function build(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  const startedAt = performance.now()
  await mkdir(DIST, { recursive: true })
  // A running executable cannot be written over, but its name can be given to another file.
  await rm(outfile, { force: true })
  await Bun.build({
    entrypoints: ['main', 'storage/backup-worker', 'storage/checkpoint-worker'].map(
      (name) => `${ROOT}/src/${name}.ts`,
    ),
    // Flat names: `new URL('./backup-worker.ts', import.meta.url)` is right here as in the sources.
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    bytecode: true,
    // Not minified: without its white space Elysia's compiled handlers break.
    minify: false,
    plugins: [embeddedPage, embeddedSwagger, embeddedMcp, ...guides],
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
