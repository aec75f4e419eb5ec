import { readFile } from 'node:fs/promises'
import { flagMessage, parseFlags } from '../lib/flags.ts'
import { linesOf } from '../lib/lines.ts'
import { openSignatureChecker } from '../node/signatures.ts'
import { verifyLine, verifyMessage } from '../tools/verify.ts'
import type { VerifyDeps } from '../tools/verify-input.ts'
import { judgeTransaction } from '../tools/verify-transaction.ts'
import { asksForHelp, type Command, done, failed, type ProcessIo, refuse } from './command.ts'
import { explainTransaction } from './explain-transaction.ts'

/** Prints what the rules of the ledger make of transactions and other cases: as lines for programs, or a file for people. */
export const verify: Command = {
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
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(verify.help)
      return done
    }
    const { problems } = parseFlags(words, { once: [] })
    const files = problems.filter(({ code }) => code === 'WORD_UNEXPECTED').map(({ word }) => word)
    const wrong = problems.filter(({ code }) => code !== 'WORD_UNEXPECTED').map(flagMessage)
    const several = files.length > 1 ? ['one file at a time'] : []
    if (wrong.length + several.length > 0) return refuse(process, 'verify', [...wrong, ...several])
    // The lines come one after the other, so no queue of doubtful signatures can grow.
    const checker = openSignatureChecker({ queueLimit: 1 })
    const [file] = files
    const code = await (file === undefined
      ? answer(process, { checker })
      : explain(process, { checker }, file))
    await checker.close()
    return code
  },
}

async function answer(process: ProcessIo, deps: VerifyDeps): Promise<number> {
  const lines = linesOf(process.stdin)
  for (;;) {
    const next = await Promise.race([lines.next(), process.stopped])
    if (typeof next === 'string' || next.done === true) return done
    process.stdout(`${await verifyLine(deps, next.value)}\n`)
  }
}

async function explain(process: ProcessIo, deps: VerifyDeps, path: string): Promise<number> {
  const complain = (reason: string): number => {
    process.stderr(`ledger-gateway verify: ${path}: ${reason}\n`)
    return failed
  }
  const question = await readCase(path)
  if (typeof question === 'string') return complain(question)
  const judged = await judgeTransaction(deps, question)
  if (!judged.ok) return complain(verifyMessage(judged.error))
  process.stdout(explainTransaction(judged.value))
  return done
}

/** The case in a file, or why there is none. */
async function readCase(path: string): Promise<Readonly<Record<string, unknown>> | string> {
  try {
    const json: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { ...json }
    return 'not a JSON object'
  } catch (failure) {
    return failure instanceof Error ? failure.message : 'unreadable'
  }
}
