// The files of swagger-ui, as its package has them. `scripts/build.ts` puts the packed files in the place
// of this module; a run from source packs one when it is first asked for.

import { packFile, type Effort, type StaticFile } from './static-file.ts'

const FILES = {
  script: {
    url: import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
    path: '/swagger/swagger-ui-bundle.js',
    type: 'text/javascript; charset=utf-8',
  },
  style: {
    url: import.meta.resolve('swagger-ui-dist/swagger-ui.css'),
    path: '/swagger/swagger-ui.css',
    type: 'text/css; charset=utf-8',
  },
} as const

export type SwaggerFileName = keyof typeof FILES

export async function swaggerFile(
  name: SwaggerFileName,
  effort: Effort = 'quick',
): Promise<StaticFile> {
  const { url, path, type } = FILES[name]
  return packFile({ path, type, bytes: await Bun.file(new URL(url)).bytes() }, effort)
}
