import { hexToBytes } from '../../../lib/hex.ts'
import { ok, type Result } from '../../../lib/result.ts'
import { passTurn } from '../../../lib/turns.ts'
import { binaryType, OutputWithId } from '../../../protocol/node-responses.ts'
import { print } from '../../../protocol/schema/schema.ts'
import type { Services } from '../../../service/services.ts'
import {
  type ChangedOutput,
  type CommittedSlotRow,
  openSlotChanges,
  outputWithId,
  type SlotChanges,
} from '../../../service/slots/read-commitment.ts'
import type { LimitError } from '../../errors/api-errors.ts'
import { startDownload } from '../download.ts'
import { wantsBytes } from '../negotiation.ts'
import type { RestRequest } from '../request.ts'
import { jsonHeaders, type RouteResponse } from '../response.ts'

/**
 * The changes of a slot, as JSON or as bytes (`UtxoChanges` and `UtxoChangesFull`). A genesis may have any number of outputs, so
 * the response is produced in pieces: a small response is sent as a whole, and a large one as a download while it is produced.
 */

interface OutputForm {
  json(output: ChangedOutput): string
  bytes(output: ChangedOutput): readonly Uint8Array[]
}

/** Writes only the id of an output. */
export const asId: OutputForm = {
  json: ({ outputId }) => JSON.stringify(outputId),
  bytes: ({ outputId }) => [hexToBytes(outputId)],
}

/** Writes the id and the output. */
export const asOutputWithId: OutputForm = {
  json: (row) => JSON.stringify(print(OutputWithId, outputWithId(row))),
  bytes: ({ outputId, bytes }) => [hexToBytes(outputId), bytes],
}

/** Responds with the changes of a slot. */
export async function answerChanges(
  { commitmentId, slot }: CommittedSlotRow,
  { form, services, request }: { form: OutputForm; services: Services; request: RestRequest },
): Promise<Result<RouteResponse, LimitError>> {
  const changes = await openSlotChanges(services, slot)
  return wantsBytes(request)
    ? await answerPieces(bytesOf(hexToBytes(commitmentId), changes, form), {
        headers: { 'content-type': binaryType },
        whole: changes.isSmall ? (all) => Buffer.concat(all) : undefined,
        request,
      })
    : await answerPieces(jsonOf(commitmentId, changes, form), {
        headers: jsonHeaders,
        whole: changes.isSmall ? (all) => all.join('') : undefined,
        request,
      })
}

/** Responds with the joined pieces, if `whole` is there to join them, or else with a download. */
async function answerPieces<T extends string | Uint8Array>(
  pieces: AsyncGenerator<T>,
  {
    headers,
    whole,
    request,
  }: {
    headers: RouteResponse['headers']
    whole: ((all: readonly T[]) => T) | undefined
    request: RestRequest
  },
): Promise<Result<RouteResponse, LimitError>> {
  if (whole !== undefined) {
    return ok({ status: 200, headers, body: whole(await Array.fromAsync(pieces)) })
  }
  const download = await startDownload(request.listen)
  return download.ok
    ? ok({ status: 200, headers, stream: { ...download.value, pieces } })
    : download
}

async function* jsonOf(
  commitmentId: string,
  { created, consumed }: SlotChanges,
  { json }: OutputForm,
): AsyncGenerator<string> {
  yield `{"commitmentId":"${commitmentId}","createdOutputs":[`
  yield* listOf(created, json)
  yield '],"consumedOutputs":['
  yield* listOf(consumed, json)
  yield ']}'
}

async function* listOf(
  pages: SlotChanges['created'],
  json: OutputForm['json'],
): AsyncGenerator<string> {
  let comma = ''
  for await (const some of groupsOf(pages)) {
    yield comma + some.map(json).join(',')
    comma = ','
  }
}

async function* bytesOf(
  commitmentId: Uint8Array,
  { created, consumed }: SlotChanges,
  { bytes }: OutputForm,
): AsyncGenerator<Uint8Array> {
  yield commitmentId
  for (const pages of [created, consumed]) {
    yield await lengthOf(pages)
    for await (const some of groupsOf(pages)) yield Buffer.concat(some.flatMap(bytes))
  }
}

/** Encodes the length prefix of a list of outputs. */
async function lengthOf(pages: SlotChanges['created']): Promise<Uint8Array> {
  let count = 0
  for await (const { length } of pages) count += length
  const length = Buffer.alloc(4)
  length.writeUInt32LE(count)
  return length
}

/** Divides pages into groups, none of which is empty. */
async function* groupsOf(pages: SlotChanges['created']): AsyncGenerator<readonly ChangedOutput[]> {
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += outputsPerTurn) {
      await passTurn()
      yield page.slice(at, at + outputsPerTurn)
    }
  }
}

/** Outputs that are printed in one turn, which takes a few milliseconds. */
const outputsPerTurn = 128
