import { GetPublicKeyCommand, type KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { UnavailableError } from '#core/errors.ts';
import { type AwsCall, toAwsFailure } from '#platform/ports/aws-failure.ts';
import type { SessionKey } from '#tasks/session-key.ts';

/** Bytes of r, and of s, in a signature on the curve P-256. */
const numberBytes = 32;

/** Tags of ASN.1 in DER. */
const tags = { sequence: 0x30, integer: 0x02 } as const;

const whenDenied = "the function's role needs kms:Sign and kms:GetPublicKey on the key of the stack agents";

/** A key of KMS, of the kind ECC_NIST_P256, that signs tokens of sessions: its private part never leaves KMS. */
export function createKmsSessionKey(client: KMSClient, keyArn: string): SessionKey {
  return {
    async sign(data) {
      const command = new SignCommand({
        KeyId: keyArn,
        Message: data,
        MessageType: 'RAW',
        SigningAlgorithm: 'ECDSA_SHA_256',
      });
      const what = 'The key that signs the sessions of agents cannot be used';
      const { Signature } = await client.send(command).catch(rethrow({ what, whenDenied }));
      return toPlainSignature(Signature ?? new Uint8Array());
    },
    async readPublicKey() {
      const command = new GetPublicKeyCommand({ KeyId: keyArn });
      const what = 'The key that signs the sessions of agents cannot be read';
      const { PublicKey } = await client.send(command).catch(rethrow({ what, whenDenied }));
      if (PublicKey === undefined) throw new UnavailableError(`${what}: KMS answered none`);
      return PublicKey;
    },
  };
}

/** An agent asks again: so it does while KMS throttles. */
function rethrow(call: AwsCall): (error: unknown) => never {
  return (error) => {
    throw new UnavailableError(toAwsFailure(error, call).message, { cause: error });
  };
}

/**
 * A signature as JWTs have it, r and s beside each other (RFC 7518, section 3.4), of one as KMS answers it: a sequence of two integers
 * in DER (RFC 3279, section 2.2.3).
 *
 * @throws Error for other bytes
 */
export function toPlainSignature(der: Uint8Array): Uint8Array {
  const reader = new DerReader(der);
  reader.enter(tags.sequence);
  const plain = new Uint8Array(2 * numberBytes);
  for (const end of [numberBytes, 2 * numberBytes]) {
    const digits = reader.readInteger();
    plain.set(digits, end - digits.length);
  }
  reader.end();
  return plain;
}

/** Reads DER as far as signatures have it: lengths below 128. */
class DerReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Goes into the value of a tag, which must be all that is left. */
  enter(tag: number): void {
    const length = this.#readHead(tag);
    if (this.#at + length !== this.#bytes.length) throw malformed();
  }

  /** The digits of an integer that is not negative, without zeros before them. */
  readInteger(): Uint8Array {
    const length = this.#readHead(tags.integer);
    const value = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    const digits = value[0] === 0 ? value.subarray(1) : value;
    if (length === 0 || value.length !== length || digits.length > numberBytes) throw malformed();
    return digits;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw malformed();
  }

  #readHead(tag: number): number {
    const [found, length = 0x80] = this.#bytes.subarray(this.#at, this.#at + 2);
    if (found !== tag || length >= 0x80) throw malformed();
    this.#at += 2;
    return length;
  }
}

function malformed(): Error {
  return new Error('KMS answered no signature of two numbers in DER');
}
