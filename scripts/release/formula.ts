import type { TargetName } from './targets.ts'

export type FormulaOrder = {
  readonly version: string
  /** Address of the repository that publishes it. */
  readonly repository: string
  /** SHA-256 of each executable that there is. */
  readonly sums: ReadonlyMap<TargetName, string>
}

const SYSTEMS = [
  ['macos', 'darwin'],
  ['linux', 'linux'],
] as const
const PROCESSORS = [
  ['arm', 'arm64'],
  ['intel', 'x64'],
] as const

/** A formula of Homebrew that installs the executables of a release as they are. */
export function formula({ version, repository, sums }: FormulaOrder): string {
  const url = `${repository}/releases/download/v${version}`
  const systems = SYSTEMS.map(([system, ours]) => {
    const blocks = PROCESSORS.flatMap(([processor, name]) => {
      const target = `${ours}-${name}` as const
      const sum = sums.get(target)
      if (sum === undefined) return []
      return `    on_${processor} do
      url "${url}/hookline-${target}"
      sha256 "${sum}"
    end
`
    })
    return blocks.length === 0 ? '' : `\n  on_${system} do\n${blocks.join('')}  end\n`
  })
  return `class Hookline < Formula
  desc "Self-hosted iMessage relay"
  homepage "${repository}"
  version "${version}"
  license "MIT"
${systems.join('')}
  def install
    bin.install Dir["hookline-*"].first => "hookline"
    # The signature made elsewhere is not valid on Intel.
    system "codesign", "--force", "--sign", "-", bin/"hookline" if OS.mac? && Hardware::CPU.intel?
    generate_completions_from_executable(bin/"hookline", "completions")
    (man1/"hookline.1").write Utils.safe_popen_read(bin/"hookline", "help", "--man")
  end

  def caveats
    <<~EOS
      To run it as a service of yours, now and after each upgrade:
        hookline up
      Data stay where "hookline paths" says when the formula is removed. First run:
        hookline service uninstall
    EOS
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hookline version")
  end
end
`
}
