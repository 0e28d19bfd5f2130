/* A captured packet: nothing is read behind its end. */
#include "observers/packet.h"

#include "tests/fuzz/fuzz.h"

FUZZ_TARGET(packet)
{
	struct packet packet;
	bool cooked = packet_parse(bytes, size, &packet);

	FUZZ_HOLDS(cooked == (size >= PACKET_COOKED_BYTES));
	FUZZ_HOLDS(packet.payload <= size && (!cooked || packet.payload >= PACKET_COOKED_BYTES));
	FUZZ_HOLDS(packet.protocol == PACKET_TCP || !packet.syn);
	FUZZ_HOLDS(packet.protocol == PACKET_ICMP || !packet.icmp_error);
	FUZZ_HOLDS(packet.protocol == PACKET_TCP || packet.protocol == PACKET_UDP ||
		   (!packet.source && !packet.destination));
}
