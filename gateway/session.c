#include "gateway/session.h"

#include "gateway/decision.h"

int session_begin(struct gateway_state *session, const struct gateway_config *config, struct error **err)
{
	*session = (struct gateway_state){
		.label = gateway_config_label(config, config->session.sensitivity),
		.rank = gateway_config_rank(config, config->session.sensitivity),
		.epoch = session->epoch + 1,
	};
	return answer_new_id(session->id, err);
}

void session_raise(struct gateway_state *session, const struct gateway_config *config, const char *label)
{
	int rank = gateway_session_raise(session->rank, gateway_config_rank(config, label));

	if (rank == session->rank)
		return;
	session->rank = rank;
	session->label = gateway_config_label(config, label);
}
