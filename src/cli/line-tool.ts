import { linesOf } from '../lib/lines.ts'
import type { Result } from '../lib/result.ts'
import { openSignatureChecker, type SignatureChecker } from '../node/signatures.ts'
import { readCall } from './call.ts'
import { type Command, done, fail, type ProcessIo } from './command.ts'
import type { Declaration } from './declaration.ts'

/** A command that answers each line of standard input with a line, or describes one file. */

export interface LineTool<D> {
  readonly declaration: Declaration
  /** Creates the dependencies of the answers from the values of the flags; resolves to an error message if that fails. */
  prepare(
    flagValue: (flag: string) => string | undefined,
    checker: SignatureChecker,
  ): Promise<Result<D, string>>
  answerLine(deps: D, line: string): Promise<string>
  /** Describes a file; resolves to an error message if that fails. */
  explainFile(deps: D, path: string): Promise<Result<string, string>>
}

export function lineCommand<D>(tool: LineTool<D>): Command {
  return { run: (process, words) => runLineTool(process, words, tool) }
}

async function runLineTool<D>(
  process: ProcessIo,
  words: readonly string[],
  tool: LineTool<D>,
): Promise<number> {
  const call = readCall(process, tool.declaration, words)
  if (typeof call === 'number') return call
  // Lines are processed one at a time, so the queue of signatures for the second check cannot grow.
  const checker = openSignatureChecker({ queueLimit: 1 })
  try {
    const deps = await tool.prepare(call.flag, checker)
    if (!deps.ok) return fail(process, tool.declaration.name, deps.error)
    const [file] = call.words
    if (file === undefined) return await answerLines(process, tool, deps.value)
    const text = await tool.explainFile(deps.value, file)
    if (!text.ok) return fail(process, tool.declaration.name, text.error)
    process.stdout(text.value)
    return done
  } finally {
    await checker.close()
  }
}

async function answerLines<D>(process: ProcessIo, tool: LineTool<D>, deps: D): Promise<number> {
  const lines = linesOf(process.stdin)
  for (;;) {
    const next = await Promise.race([lines.next(), process.stopped])
    if (typeof next === 'string' || next.done === true) return done
    process.stdout(`${await tool.answerLine(deps, next.value)}\n`)
  }
}
