import { readFile } from 'node:fs/promises'
import { err, ok, type Result } from '../lib/result.ts'
import { messageIn } from '../lib/thrown.ts'
import { developmentParameters } from '../node/embedded/development-parameters.ts'
import { readParametersFile } from '../node/genesis-file.ts'
import { type Network, networkOf } from '../protocol/network.ts'
import { inspectLine } from '../tools/inspect.ts'
import type { InspectDeps } from '../tools/inspect-block.ts'
import type { Command } from './command.ts'
import { inspectDeclaration } from './declarations/tools.ts'
import { describeFile } from './inspect-file.ts'
import { lineCommand } from './line-tool.ts'

/** Decodes and describes single values: answers input lines with JSON lines, or describes one file in readable form. */
export const inspect: Command = lineCommand<InspectDeps>({
  declaration: inspectDeclaration,
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
    return err(messageIn(failure))
  }
}

async function readNetwork(path: string | undefined): Promise<Result<Network, string>> {
  if (path === undefined) return ok(networkOf(developmentParameters(0)))
  const parameters = await readParametersFile(path)
  if (parameters.ok) return ok(networkOf(parameters.value))
  return err(`--parameters-file names ${path}, which cannot be used: ${parameters.error.reason}`)
}
