import { readFile } from 'node:fs/promises'
import { withoutByteOrderMark } from '../lib/byte-order-mark.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { messageIn } from '../lib/thrown.ts'
import { verifyLine, verifyMessage } from '../tools/verify.ts'
import type { VerifyDeps, VerifyInput } from '../tools/verify-input.ts'
import { judgeTransaction } from '../tools/verify-transaction.ts'
import type { Command } from './command.ts'
import { verifyDeclaration } from './declarations/tools.ts'
import { explainTransaction } from './explain-transaction.ts'
import { lineCommand } from './line-tool.ts'

/** Applies the ledger rules to transactions and other cases: answers input lines with JSON lines, or explains one file. */
export const verify: Command = lineCommand<VerifyDeps>({
  declaration: verifyDeclaration,
  prepare: async (_flagValue, checker) => ok({ checker }),
  answerLine: verifyLine,
  explainFile: async (deps, path) => {
    const input = await readCase(path)
    if (!input.ok) return err(`${path}: ${input.error}`)
    const judged = await judgeTransaction(deps, input.value)
    if (!judged.ok) return err(`${path}: ${verifyMessage(judged.error)}`)
    return ok(explainTransaction(judged.value))
  },
})

/** Reads the case in a file; resolves to an error message if that fails. */
async function readCase(path: string): Promise<Result<VerifyInput, string>> {
  try {
    const json: unknown = JSON.parse(withoutByteOrderMark(await readFile(path, 'utf8')))
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
    return isObject ? ok({ ...json }) : err('not a JSON object')
  } catch (failure) {
    return err(messageIn(failure))
  }
}
