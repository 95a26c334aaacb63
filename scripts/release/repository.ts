// The repository that publishes a release. Sources name none: its address is put in when a release is made.

/** Address of `OWNER/NAME` on GitHub, or of a repository elsewhere that is given by its https address. */
export function repositoryUrl(given: string): string {
  if (/^[\w-]+\/[\w.-]+$/.test(given)) return `https://github.com/${given}`
  if (/^https:\/\/[\w.:-]+(\/[\w.-]+)+$/.test(given)) return given
  throw new Error(`${given} is not a repository: --repository OWNER/NAME, or its https address.`)
}

/** Guides and the installer say `<releases>` for the address of the files of the newest release. */
export function nameReleases(text: string, repository: string): string {
  return text.replaceAll('<releases>', `${repository}/releases/latest/download`)
}

/** Names the releases in the guides that a build carries. */
export function namedInGuides(repository: string): Bun.BunPlugin {
  return {
    name: 'address of the releases',
    setup(build) {
      build.onLoad({ filter: /\/guides\/[\w-]+\.md$/ }, async ({ path }) => {
        const contents = nameReleases(await Bun.file(path).text(), repository)
        return { contents, loader: 'text' }
      })
    },
  }
}
