import { readFile } from 'node:fs/promises'
import { withoutByteOrderMark } from './byte-order-mark.ts'
import { err, ok, type Result } from './result.ts'
import { messageIn } from './thrown.ts'

/** Reads a JSON file that an operator wrote. The error is the message of the system or of the parser. */
export async function readJsonFile(path: string): Promise<Result<unknown, string>> {
  try {
    return ok(JSON.parse(withoutByteOrderMark(await readFile(path, 'utf8'))))
  } catch (failure) {
    return err(messageIn(failure))
  }
}
