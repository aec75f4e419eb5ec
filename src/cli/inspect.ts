import { readFile } from 'node:fs/promises'
import { err, ok, type Result } from '../lib/result.ts'
import { developmentParameters } from '../node/embedded/development-parameters.ts'
import { readParametersFile } from '../node/genesis-file.ts'
import { type Network, networkOf } from '../protocol/network.ts'
import { inspectLine } from '../tools/inspect.ts'
import type { InspectDeps } from '../tools/inspect-block.ts'
import { type Command, table } from './command.ts'
import { describeFile } from './inspect-file.ts'
import { lineCommand } from './line-tool.ts'

/** Prints everything about single values: as lines for programs, or a file for people. */
export const inspect: Command = lineCommand<InspectDeps>({
  name: 'inspect',
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
  flags: ['parameters-file'],
  prepare: async (flagValue, checker) => {
    const network = await readNetwork(flagValue('parameters-file'))
    return network.ok ? ok({ checker, network: network.value }) : network
  },
  answerLine: inspectLine,
  explainFile: async (deps, path) => {
    const contents = await readContents(path)
    if (!contents.ok) return err(`${path} cannot be read: ${contents.error}`)
    return ok(await describeFile(deps, contents.value))
  },
})

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
