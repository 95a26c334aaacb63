// The files of the guides and of the API page: our own, bundled, the pictures of the guides, and those of swagger-ui
// from its package.
// `scripts/build.ts` replaces this module with the packed files; a run from source packs them at the first request.

import { bundleFiles } from './page-bundle.ts'
import { packFile, type Effort, type StaticFile } from './static-file.ts'

const DASHBOARD = `${import.meta.dir}/../dashboard`
const GUIDES = `${import.meta.dir}/../guides`
const TYPES = [
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
] as const

/** The source of each file, by its name below `/swagger/`. */
const FILES = {
  'manual.css': `${DASHBOARD}/css/manual.css`,
  'manual.js': `${DASHBOARD}/manual/manual.ts`,
  'api-page.css': `${DASHBOARD}/css/api-page.css`,
  'api-page.js': `${DASHBOARD}/manual/api-page.tsx`,
}
const PICTURES = ['imports.svg']
const OF_SWAGGER_UI = ['swagger-ui.css', 'swagger-ui-bundle.js']

export async function manualFiles(effort: Effort = 'quick'): Promise<readonly StaticFile[]> {
  const outputs = await bundleFiles(Object.values(FILES))
  const own = Object.keys(FILES).map((name) => {
    return { name, file: outputs.find(({ path }) => path.endsWith(`/${name}`)) }
  })
  const pictures = PICTURES.map((name) => ({ name, file: Bun.file(`${GUIDES}/${name}`) }))
  const stock = OF_SWAGGER_UI.map((name) => {
    return { name, file: Bun.file(new URL(import.meta.resolve(`swagger-ui-dist/${name}`))) }
  })
  return Promise.all(
    [...own, ...pictures, ...stock].map(async ({ name, file }) => {
      if (file === undefined) throw new Error(`The bundle has no ${name}.`)
      const bytes = new Uint8Array(await file.arrayBuffer())
      const [, type = ''] = TYPES.find(([end]) => name.endsWith(end)) ?? []
      return packFile({ path: `/swagger/${name}`, type, bytes }, effort)
    }),
  )
}
