/** Leaves out the themes of a page for the API that @elysiajs/swagger could show in place of swagger-ui. */
export const unusedThemes: Bun.BunPlugin = {
  name: 'unused themes',
  setup(build) {
    build.onResolve({ filter: /^@scalar\/themes$/ }, () => ({
      path: 'themes',
      namespace: 'unused',
    }))
    build.onLoad({ filter: /./, namespace: 'unused' }, () => {
      return { contents: "export const elysiajsTheme = ''", loader: 'js' }
    })
  },
}
