// Bundles the dashboard into compressed files that are named after their content. The build does that once and
// embeds the result; a run from source does it when the page is opened.

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

/** Bundles the page whose HTML file is at `index`; rejects with Bun's messages if that fails. */
export async function bundlePage(index: string): Promise<readonly StaticFile[]> {
  const { success, outputs, logs } = await Bun.build({
    entrypoints: [index],
    target: 'browser',
    minify: true,
    // Modules with a dynamic import become separate files.
    splitting: true,
    plugins: [shortElements],
    define: { 'process.env.NODE_ENV': '"production"' },
    publicPath: ASSETS,
    throw: false,
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  })
  if (!success) throw new Error(`The page cannot be bundled: ${logs.map(String).join('; ')}`)
  return Promise.all(outputs.map(pageFile))
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
