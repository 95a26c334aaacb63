// The fenced blocks of the manual, and the commands in them.

export type Block = {
  readonly guide: string
  /** The line of its fence, from 1. */
  readonly line: number
  readonly language: string
  readonly text: string
}

/** The blocks of a guide in the languages that can be run or compared, in their order. */
export function blocksOf(guide: string, markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^( *)```(\w*)\n([^]*?)^ *```$/gm)].flatMap((found) => {
    const [, indent = '', language = '', inner = ''] = found
    const text = inner.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const shown = language === '' && text.startsWith('hookline ') ? 'sh' : language
    if (!LANGUAGES.includes(shown)) return []
    const line = markdown.slice(0, found.index).split('\n').length
    return [{ guide, line, language: shown, text }]
  })
}

const LANGUAGES = ['sh', 'ts', 'js', 'python', 'json']

export type Command = {
  readonly text: string
  /** The comments that follow it, without their `#`: what it prints. */
  readonly shown: readonly string[]
}

/** The commands of a block in sh; lines that continue are one. */
export function commandsOf({ text }: Block): readonly Command[] {
  const commands: { text: string; shown: string[] }[] = []
  for (const line of text.replaceAll(/\\\n\s*/g, '').split('\n')) {
    const comment = /^# (.*)$/.exec(line)?.[1]
    if (comment !== undefined) commands.at(-1)?.shown.push(comment)
    else if (line.trim() !== '') commands.push({ text: line.replace(/\s+# .*$/, ''), shown: [] })
  }
  return commands
}
