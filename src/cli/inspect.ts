import { readFile } from 'node:fs/promises'
import { flagMessage, parseFlags } from '../lib/flags.ts'
import { linesOf } from '../lib/lines.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { developmentParameters } from '../node/embedded/development-parameters.ts'
import { readParametersFile } from '../node/genesis-file.ts'
import { openSignatureChecker } from '../node/signatures.ts'
import { type Network, networkOf } from '../protocol/network.ts'
import { inspectLine } from '../tools/inspect.ts'
import type { InspectDeps } from '../tools/inspect-block.ts'
import {
  asksForHelp,
  type Command,
  done,
  failed,
  type ProcessIo,
  refuse,
  table,
} from './command.ts'
import { describeFile } from './inspect-file.ts'

/** Prints everything about single values: as lines for programs, or a file for people. */
export const inspect: Command = {
  help: `Decodes and checks single values, and computes their identifiers and scores. It needs no server
and no database.

Usage: ledger-gateway inspect [FLAGS] < LINES
       ledger-gateway inspect [FLAGS] FILE

Without a file it answers each line of JSON on standard input with a line of JSON, in order:

  in    {"ref":…, "kind":KIND, "params":{…}, "json":…}   or "bytes":"0x…" in place of "json"
  out   {"ref":…, "ok":true, "json":…, "bytes":"0x…", "ids":{…}, …}
        {"ref":…, "ok":false, "error":{"code":…, "path":…, "offset":…, "message":…}}

KIND is block, output, address, protocol-parameters, slot-commitment, signed-transaction-payload,
output-id-proof (with "transaction"), bech32 ("text"), signature ("publicKey", "message",
"signature"), slot ("issuingTime"), id-from-output-id ("outputId"), foundry-id ("accountId",
"serialNumber", "tokenSchemeType"), public-key-hash ("publicKey"), network-id ("networkName") or
merkle-root ("leaves"). "ok" speaks of form only: a block with a wrong signature is ok. It follows
the official SDK: an error with "only":"sdk" is a rule that nodes do not have, and a gateway takes
the value.

With a file it prints a description: of a block as JSON, as text 0x… or as bytes, or of a line as
above.

${table([['--parameters-file PATH', 'protocol parameters, or an answer of /api/core/v3/info, as JSON']])}

They count for values that bring none. Without it they are those of the development network, with
its genesis at Unix time 0: other slots than a running one has, and other block ids.
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(inspect.help)
      return done
    }
    const { values, problems } = parseFlags(words, { once: ['parameters-file'] })
    const files = problems.filter(({ code }) => code === 'WORD_UNEXPECTED').map(({ word }) => word)
    const wrong = problems.filter(({ code }) => code !== 'WORD_UNEXPECTED').map(flagMessage)
    const several = files.length > 1 ? ['one file at a time'] : []
    if (wrong.length + several.length > 0) return refuse(process, 'inspect', [...wrong, ...several])
    const network = await readNetwork(values.get('parameters-file')?.[0])
    if (!network.ok) {
      process.stderr(`ledger-gateway inspect: ${network.error}\n`)
      return failed
    }
    // The lines come one after the other, so no queue of doubtful signatures can grow.
    const checker = openSignatureChecker({ queueLimit: 1 })
    const deps = { checker, network: network.value }
    const [file] = files
    const code = await (file === undefined ? answer(process, deps) : describe(process, deps, file))
    await checker.close()
    return code
  },
}

async function answer(process: ProcessIo, deps: InspectDeps): Promise<number> {
  const lines = linesOf(process.stdin)
  for (;;) {
    const next = await Promise.race([lines.next(), process.stopped])
    if (typeof next === 'string' || next.done === true) return done
    process.stdout(`${await inspectLine(deps, next.value)}\n`)
  }
}

async function describe(process: ProcessIo, deps: InspectDeps, path: string): Promise<number> {
  const contents = await readContents(path)
  if (!contents.ok) {
    process.stderr(`ledger-gateway inspect: ${path} cannot be read: ${contents.error}\n`)
    return failed
  }
  process.stdout(await describeFile(deps, contents.value))
  return done
}

async function readContents(path: string): Promise<Result<Uint8Array, string>> {
  try {
    return ok(await readFile(path))
  } catch (failure) {
    return err(failure instanceof Error ? failure.message : 'unreadable')
  }
}

async function readNetwork(path: string | undefined): Promise<Result<Network, string>> {
  if (path === undefined) return ok(networkOf(developmentParameters(0)))
  const parameters = await readParametersFile(path)
  if (parameters.ok) return ok(networkOf(parameters.value))
  return err(`${path} cannot be used: ${parameters.error.reason}`)
}
