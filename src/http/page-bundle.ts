// The page as files to serve: bundled for the browser, named after their content, and compressed. The
// build does it once and embeds the result; a run from source does it when the page is opened.

import { packFile, type StaticFile } from './static-file.ts'

const ASSETS = '/assets/'

/**
 * An element is made by `h(type, properties, ...children)`. Bun by itself would write what `tsc` checks
 * it as, with the children among the properties: 4 % more to load.
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

/** Bundles the page whose HTML file is at `index`; rejects with Bun's own words if it cannot. */
export async function bundlePage(index: string): Promise<readonly StaticFile[]> {
  const { success, outputs, logs } = await Bun.build({
    entrypoints: [index],
    target: 'browser',
    minify: true,
    // Modules that are imported while the page runs become files of their own.
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

/** Added to the bundle, because Bun takes every link of the page for a file. */
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
