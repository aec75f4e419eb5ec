import { isJsonObject } from '../lib/json.ts'
import { readJsonFile } from '../lib/json-file.ts'
import { err, ok, type Result } from '../lib/result.ts'
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
  const json = await readJsonFile(path)
  if (!json.ok) return json
  return isJsonObject(json.value) ? ok({ ...json.value }) : err('not a JSON object')
}
