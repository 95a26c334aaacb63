// Bundles the dashboard into compressed files that are named after their content. The build does that once and
// embeds the result; a run from source does it when the page is opened.

import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

import { packFile, type StaticFile } from './static-file.ts'

const ASSETS = '/assets/'

/**
 * Compiles JSX to `h(type, properties, ...children)`. By default Bun follows tsconfig, which puts the children
 * among the properties: 4 % more to load.
 */
const ELEMENTS =
  '/** @jsxRuntime classic *//** @jsx makeElement *//** @jsxFrag Several */' +
  "import { h as makeElement, Fragment as Several } from 'preact';"

const shortElements: Bun.BunPlugin = {
  name: 'short elements',
  setup(build) {
    build.onLoad({ filter: /\/dashboard\/.+\.tsx$/ }, async ({ path }) => {
      return { contents: ELEMENTS + (await Bun.file(path).text()), loader: 'tsx' }
    })
  },
}

/** Keeps typefaces as files of their own. By default Bun writes them into the stylesheet, all of them for each page. */
function typefaces(files: Map<string, Bun.BunFile>): Bun.BunPlugin {
  return {
    name: 'typefaces',
    setup(build) {
      build.onResolve({ filter: /\.woff2$/ }, ({ path, importer }) => {
        const place = Bun.resolveSync(path, dirname(importer))
        const hash = Bun.hash(readFileSync(place)).toString(36)
        const address = `${ASSETS}${basename(place, '.woff2')}-${hash}.woff2`
        files.set(address, Bun.file(place))
        return { path: address, external: true }
      })
    },
  }
}

/** Bundles the page whose HTML file is at `index`; rejects with Bun's messages if that fails. */
export async function bundlePage(index: string): Promise<readonly StaticFile[]> {
  const fonts = new Map<string, Bun.BunFile>()
  // Modules with a dynamic import become separate files.
  const outputs = await bundled([index], { fonts, splitting: true })
  const type = 'font/woff2'
  const fontFiles = [...fonts].map(async ([path, file]) =>
    packFile({ path, type, bytes: await file.bytes() }, 'quick'),
  )
  return Promise.all([...outputs.map(pageFile), ...fontFiles])
}

/** Bundles each script and stylesheet into one file of its name. Their typefaces are those of the dashboard. */
export function bundleFiles(paths: readonly string[]): Promise<readonly Bun.BuildArtifact[]> {
  return bundled(paths, { fonts: new Map(), splitting: false })
}

async function bundled(
  entrypoints: readonly string[],
  { fonts, splitting }: { readonly fonts: Map<string, Bun.BunFile>; readonly splitting: boolean },
): Promise<readonly Bun.BuildArtifact[]> {
  const { success, outputs, logs } = await Bun.build({
    entrypoints: [...entrypoints],
    target: 'browser',
    minify: true,
    splitting,
    plugins: [shortElements, typefaces(fonts)],
    define: { 'process.env.NODE_ENV': '"production"' },
    publicPath: ASSETS,
    throw: false,
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  })
  if (!success) throw new Error(`The page cannot be bundled: ${logs.map(String).join('; ')}`)
  return outputs
}

/** Added after bundling, because Bun would try to bundle the file. */
const MANIFEST_LINK = '<link rel="manifest" href="/manifest.webmanifest">'

async function pageFile(output: Bun.BuildArtifact): Promise<StaticFile> {
  const { type } = output
  const name = output.path.replace(/^.*\//, '')
  if (name === 'index.html') {
    const text = (await output.text()).replace('</head>', `${MANIFEST_LINK}$&`)
    return packFile({ path: '/', type, bytes: new TextEncoder().encode(text) }, 'best')
  }
  const bytes = new Uint8Array(await output.arrayBuffer())
  return packFile({ path: `${ASSETS}${name}`, type, bytes }, 'best')
}
