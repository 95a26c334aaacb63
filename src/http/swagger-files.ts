// The files of swagger-ui from its package. `scripts/build.ts` replaces this module with the packed files; a run
// from source packs a file at its first request.

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
