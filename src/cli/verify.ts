import { readFile } from 'node:fs/promises'
import { err, ok, type Result } from '../lib/result.ts'
import { verifyLine, verifyMessage } from '../tools/verify.ts'
import type { Question, VerifyDeps } from '../tools/verify-input.ts'
import { judgeTransaction } from '../tools/verify-transaction.ts'
import type { Command } from './command.ts'
import { explainTransaction } from './explain-transaction.ts'
import { lineCommand } from './line-tool.ts'

/** Prints what the rules of the ledger make of transactions and other cases: as lines for programs, or a file for people. */
export const verify: Command = lineCommand<VerifyDeps>({
  name: 'verify',
  help: `Applies the rules of the ledger to cases that bring everything they need. It needs no server and
no database.

Usage: ledger-gateway verify < LINES
       ledger-gateway verify FILE

Without a file it answers each line of JSON on standard input with a line of JSON, in order:

  in    {"ref":…, "kind":KIND, "parameters":{…}, …}
  out   {"ref":…, "result":…}
        {"ref":…, "error":{"code":…, "path":…, "message":…}}

KIND and the members beside it:

  tx        transaction, unlocks, inputs, ledger, manaRewards: valid, or the reason it fails for
  syntax    transaction, unlocks: whether they are well formed
  blocks    block, context: whether the block comes in, or at which stage and why it does not
  mana      subkind decay or generate: value, from, to; subkind output: output, from, to
  scores    subkind storage: output; subkind work: block
  roots     subkind trie: entries, deleted; tree: leaves; roots; commitment; parameters: startEpoch
  accounts  start, slots: entries, prices and roots after every slot
  rewards   epochs, claims
  genesis   outputs, credits
  owners    output, slots

An error is for a line that cannot be read, or a transaction that is malformed.

With a file, which holds one case of kind tx, it explains the transaction: the rules that hold, the
first that is broken, and the mana.
`,
  flags: [],
  prepare: async (_flagValue, checker) => ok({ checker }),
  answerLine: verifyLine,
  explainFile: async (deps, path) => {
    const question = await readCase(path)
    if (!question.ok) return err(`${path}: ${question.error}`)
    const judged = await judgeTransaction(deps, question.value)
    if (!judged.ok) return err(`${path}: ${verifyMessage(judged.error)}`)
    return ok(explainTransaction(judged.value))
  },
})

/** The case in a file, or why there is none. */
async function readCase(path: string): Promise<Result<Question, string>> {
  try {
    const json: unknown = JSON.parse(await readFile(path, 'utf8'))
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
    return isObject ? ok({ ...json }) : err('not a JSON object')
  } catch (failure) {
    return err(failure instanceof Error ? failure.message : 'unreadable')
  }
}
